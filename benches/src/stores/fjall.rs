//! fjall: each group is one atomic write batch whose journal is synced with `fdatasync`.

use std::path::Path;

use ::fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};

use super::{KEY_BYTES, Record, Result, Store};

const KEYSPACE: &str = "records";

pub(super) struct FjallStore {
    database: Database,
    keyspace: Keyspace,
}

impl FjallStore {
    pub(super) fn open(directory: &Path) -> Result<Self> {
        let database = Database::builder(directory).open()?;
        let keyspace = database.keyspace(KEYSPACE, KeyspaceCreateOptions::default)?;
        Ok(Self { database, keyspace })
    }
}

impl Store for FjallStore {
    fn commit(&mut self, group: &[Record]) -> Result<()> {
        let mut batch =
            OwnedWriteBatch::with_capacity(self.database.clone(), group.len()).durability(Some(PersistMode::SyncData));
        for record in group {
            batch.insert(&self.keyspace, record.key.to_be_bytes(), record.value);
        }
        Ok(batch.commit()?)
    }

    fn take_all(&mut self) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        for entry in self.keyspace.iter() {
            let (key, value) = entry.into_inner()?;
            let key: [u8; KEY_BYTES] = key.as_ref().try_into()?;
            records.push(Record { key: u64::from_be_bytes(key), value: value.as_ref().try_into()? });
        }
        Ok(records)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { database, keyspace } = *self;
        database.persist(PersistMode::SyncAll)?;
        drop(keyspace);
        drop(database);
        Ok(())
    }
}
