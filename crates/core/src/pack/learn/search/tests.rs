//! The search alone, told what there is to be seen.

use super::*;

const TENTH: Duration = Duration::from_millis(100);

fn idle(is_full: bool) -> Seen {
    Seen {
        is_full,
        is_draining: false,
        done: 0,
        took: Duration::ZERO,
        work: 0.0,
        time: Duration::ZERO,
        differs: Duration::ZERO,
        is_idle: true,
        is_local: false,
        is_silent: true,
    }
}

/// Tasks that compute at first and then wait, of which so many may run: the number after it has leapt once, when those that started then have
/// computed for so long.
fn after_a_leap(computed: Duration) -> (u32, Option<Why>) {
    let (mut search, mut now) = (Search::new(2, 256), Time::START);
    let mut look = |search: &mut Search, is_full| {
        now = now + TENTH;
        (now, search.look(now, TENTH, &idle(is_full)))
    };
    let (now, _) = look(&mut search, true);
    search.computed(now, Look { age: TENTH, computed: TENTH / 2 });
    assert_eq!(look(&mut search, true).1, Some(Why::Grows));
    assert_eq!(search.width(), 8);
    // For want of memory they start by and by, and when all of them run, they wait.
    let (now, _) = look(&mut search, false);
    (0..6).for_each(|_| search.computed(now, Look { age: TENTH, computed }));
    (0..10).for_each(|_| assert_eq!(look(&mut search, false).1, None));
    let (_, why) = look(&mut search, true);
    (search.width(), why)
}

#[test]
fn tasks_that_computed_as_much_as_others_at_their_age_are_not_in_each_others_way() {
    assert_eq!(after_a_leap(TENTH / 2), (32, Some(Why::Grows)));
}

#[test]
fn tasks_that_could_compute_less_than_others_at_their_age_are_too_many() {
    assert_eq!(after_a_leap(TENTH / 20), (2, Some(Why::Contention)));
}
