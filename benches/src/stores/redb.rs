//! redb: each group is one write transaction with immediate durability, its default.

use std::path::Path;

use ::redb::{Database, Durability, ReadableDatabase, ReadableTable, TableDefinition};

use super::{Record, Result, Store, VALUE_BYTES};

const TABLE: TableDefinition<u64, &[u8; VALUE_BYTES]> = TableDefinition::new("records");
const FILE: &str = "records.redb";

pub(super) struct RedbStore {
    database: Database,
}

impl RedbStore {
    pub(super) fn open(directory: &Path) -> Result<Self> {
        let database = Database::create(directory.join(FILE))?;
        Ok(Self { database })
    }
}

impl Store for RedbStore {
    fn commit(&mut self, group: &[Record]) -> Result<()> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        let mut table = transaction.open_table(TABLE)?;
        for record in group {
            table.insert(record.key, &record.value)?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    fn take_all(&mut self) -> Result<Vec<Record>> {
        let table = self.database.begin_read()?.open_table(TABLE)?;
        let mut records = Vec::new();
        for entry in table.iter()? {
            let (key, value) = entry?;
            records.push(Record { key: key.value(), value: *value.value() });
        }
        Ok(records)
    }

    fn close(self: Box<Self>) -> Result<()> {
        drop(self.database);
        Ok(())
    }
}
