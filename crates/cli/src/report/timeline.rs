//! The timeline packed for the page: every attempt in every slot if there is room, otherwise what fills each
//! small stretch of time.
//!
//! An attempt takes four or five bytes: the pause before it, its length, its task as a difference from the last one of its
//! kind, and its kind where that changes. If that is too much, times are rounded, and if that does not help either, slots and time are
//! cut into cells that hold how busy they were and with which kind most.

use super::packed::{number, signed};
use serde_json::{Value, json};
use throng_core::account::{Account, Stint};

/// Room for the timeline: in base64 it grows by a third, and the whole page has to stay below ten megabytes.
const ROOM: usize = 5_400_000;
/// Times are not rounded to less than a millionth of the period: zoomed in, that would be seen.
const STEPS_LEAST: u64 = 1 << 20;
/// The page counts in 32 bits.
const STEPS_MOST: u64 = 1 << 31;
/// Groups of slots in the cells: more rows cannot be told apart on a screen.
const ROWS_MOST: usize = 256;
const COLUMNS_MOST: usize = 16_384;

/// Packs the timeline; returns how to read it, and the bytes. Kinds are numbered as `kind_number` says.
pub fn pack(account: &Account, kind_number: impl Fn(&Stint) -> u64) -> (Value, Vec<u8>) {
    let slots = by_slot(account);
    let length = account.period.length_ns().max(1);
    let mut unit_ns = length.div_ceil(STEPS_MOST);
    loop {
        let packed = pack_stints(account, &slots, unit_ns, &kind_number);
        if packed.len() <= ROOM {
            let about = json!({ "form": "attempts", "unit_s": unit_ns as f64 / 1e9, "count": account.stints.len() });
            return (about, packed);
        }
        // Coarser times are shorter numbers, but each attempt keeps at least its four bytes.
        if length / unit_ns <= STEPS_LEAST || account.stints.len() * 4 > ROOM {
            break;
        }
        unit_ns *= 8;
    }
    let rows = slots.len().min(ROWS_MOST);
    let columns = (ROOM / 2 / rows).min(COLUMNS_MOST);
    let cell_ns = length.div_ceil(columns as u64);
    let columns = length.div_ceil(cell_ns) as usize;
    let cells = pack_cells(account, &slots, rows, columns, cell_ns, &kind_number);
    (json!({ "form": "cells", "unit_s": cell_ns as f64 / 1e9, "rows": rows, "columns": columns }), cells)
}

/// The numbers of the attempts in each slot, in order.
fn by_slot(account: &Account) -> Vec<Vec<u32>> {
    let mut slots = vec![Vec::new(); account.slots as usize];
    for (number, stint) in account.stints.iter().enumerate() {
        slots[stint.slot.index()].push(number as u32);
    }
    slots
}

fn pack_stints(account: &Account, slots: &[Vec<u32>], unit_ns: u64, kind_number: &impl Fn(&Stint) -> u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last_tasks: Vec<i64> = Vec::new();
    for slot in slots {
        number(&mut bytes, slot.len() as u64);
        let (mut last_end, mut last_kind) = (0, 0);
        for stint in slot.iter().map(|number| &account.stints[*number as usize]) {
            let begin = (stint.decided.0 - account.period.begin.0) / unit_ns;
            let end = (stint.finished.0 - account.period.begin.0) / unit_ns;
            let kind = kind_number(stint);
            let is_new_kind = kind != last_kind;
            number(&mut bytes, (begin - last_end) << 2 | u64::from(is_new_kind) << 1 | u64::from(stint.is_failure()));
            if is_new_kind {
                number(&mut bytes, kind);
            }
            number(&mut bytes, end - begin);
            last_tasks.resize(last_tasks.len().max(kind as usize + 1), 0);
            let last_task = &mut last_tasks[kind as usize];
            signed(&mut bytes, i64::from(stint.task.0) - *last_task);
            *last_task = stint.task.0.into();
            (last_end, last_kind) = (end, kind);
        }
        if bytes.len() > ROOM {
            break;
        }
    }
    bytes
}

/// Cells row by row, two bytes each: how busy, of 255, and with which kind most.
fn pack_cells(
    account: &Account,
    slots: &[Vec<u32>],
    rows: usize,
    columns: usize,
    cell_ns: u64,
    kind_number: &impl Fn(&Stint) -> u64,
) -> Vec<u8> {
    let mut cells = vec![0u8; rows * columns * 2];
    for (row, cells) in cells.chunks_mut(columns * 2).enumerate() {
        // Which slots are in which row is the same here and on the page.
        let group = &slots[row * slots.len() / rows..(row + 1) * slots.len() / rows];
        let whole = group.len() as u64 * cell_ns;
        let mut busy = vec![0u64; columns];
        let mut best = vec![(0u64, 0u8); columns];
        for stint in group.iter().flatten().map(|number| &account.stints[*number as usize]) {
            let kind = kind_number(stint).min(255) as u8;
            let mut at = stint.decided.0 - account.period.begin.0;
            let end = stint.finished.0 - account.period.begin.0;
            while at < end {
                let column = (at / cell_ns) as usize;
                let edge = end.min((column as u64 + 1) * cell_ns);
                busy[column] += edge - at;
                // The kind of most attempts in a row wins, as in counting votes: exact where one has more than half.
                let (votes, winner) = &mut best[column];
                match (*winner == kind || *votes == 0, edge - at) {
                    (true, time) => (*votes, *winner) = (*votes + time, kind),
                    (false, time) if time > *votes => (*votes, *winner) = (time - *votes, kind),
                    (false, time) => *votes -= time,
                }
                at = edge;
            }
        }
        for (cell, (busy, (_, kind))) in cells.chunks_mut(2).zip(busy.iter().zip(&best)) {
            cell[0] = (busy * 255).div_ceil(whole).min(255) as u8;
            cell[1] = *kind;
        }
    }
    cells
}
