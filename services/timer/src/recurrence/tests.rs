use super::*;

const GRACE: Duration = Duration::from_secs(30);

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn every(seconds: u64) -> Recurrence {
    Recurrence::Every { interval: Duration::from_secs(seconds) }
}

fn cron(expression: &str, zone: &str) -> Recurrence {
    let zone = Some(zone.to_owned()).filter(|zone| !zone.is_empty());
    Recurrence::Cron { expression: expression.to_owned(), zone }
}

/// The next times after `from`, in UTC.
fn times(recurrence: &Recurrence, from: &str, count: usize) -> Vec<String> {
    let mut after = at(from);
    let mut found = Vec::new();
    while found.len() < count {
        let Some(next) = recurrence.next_after(after, after).unwrap() else { break };
        assert!(next > after, "{recurrence:?} does not go on after {after}");
        found.push(next.to_string().replace(".000Z", "Z"));
        after = next;
    }
    found
}

#[test]
fn cron_times_are_those_of_the_calendar() {
    let check = |expression, zone, from, expected: &[&str]| {
        assert_eq!(times(&cron(expression, zone), from, expected.len()), expected, "{expression}");
    };
    check(
        "*/15 * * * *",
        "",
        "2026-03-01T10:07:30Z",
        &["2026-03-01T10:15:00Z", "2026-03-01T10:30:00Z"],
    );
    check(
        "*/20 * * * * *",
        "",
        "2026-03-01T10:07:30.5Z",
        &["2026-03-01T10:07:40Z", "2026-03-01T10:08:00Z"],
    );
    // Exactly on an occurrence: the one after it.
    check("0 12 * * *", "", "2026-03-01T12:00:00Z", &["2026-03-02T12:00:00Z"]);
    // Leap days.
    check(
        "0 0 29 2 *",
        "",
        "2026-01-01T00:00:00Z",
        &["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"],
    );
    // Ends of months.
    check(
        "0 0 L * *",
        "",
        "2027-01-15T00:00:00Z",
        &["2027-01-31T00:00:00Z", "2027-02-28T00:00:00Z", "2027-03-31T00:00:00Z"],
    );
    check(
        "0 0 31 * *",
        "",
        "2026-01-31T00:00:00Z",
        &["2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"],
    );
    // Weekdays.
    check("30 8 * * MON-FRI", "", "2026-11-20T09:00:00Z", &["2026-11-23T08:30:00Z"]);
}

#[test]
fn clock_changes_neither_lose_nor_repeat_a_daily_time() {
    // Spring: 02:30 does not exist on 2026-03-29 in Berlin; the first moment after the gap takes
    // its place.
    assert_eq!(
        times(&cron("30 2 * * *", "Europe/Berlin"), "2026-03-27T12:00:00Z", 4),
        [
            "2026-03-28T01:30:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-30T00:30:00Z",
            "2026-03-31T00:30:00Z"
        ]
    );
    // Autumn: 02:30 comes twice on 2026-10-25; it fires at the first.
    assert_eq!(
        times(&cron("30 2 * * *", "Europe/Berlin"), "2026-10-24T12:00:00Z", 3),
        ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", "2026-10-27T01:30:00Z"]
    );
    // A schedule for every half hour fires through both changes.
    assert_eq!(
        times(&cron("*/30 * * * *", "Europe/Berlin"), "2026-10-24T23:45:00Z", 6),
        [
            "2026-10-25T00:00:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:00:00Z",
            "2026-10-25T01:30:00Z",
            "2026-10-25T02:00:00Z",
            "2026-10-25T02:30:00Z"
        ]
    );
    assert_eq!(
        times(&cron("*/30 * * * *", "Europe/Berlin"), "2026-03-29T00:15:00Z", 3),
        ["2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"]
    );
    // A zone with half-hour changes, and one that changes at midnight.
    assert_eq!(
        times(&cron("0 9 * * *", "Australia/Lord_Howe"), "2026-04-03T12:00:00Z", 3),
        ["2026-04-03T22:00:00Z", "2026-04-04T22:30:00Z", "2026-04-05T22:30:00Z"]
    );
}

#[test]
fn every_daily_time_fires_once_a_day_for_years_in_every_zone() {
    for zone in ["Europe/Berlin", "America/New_York", "America/Santiago", "Asia/Tehran", "UTC"] {
        for expression in ["30 2 * * *", "0 0 * * *", "0 12 * * *"] {
            let recurrence = cron(expression, zone);
            let mut after = at("2026-01-01T13:00:00Z");
            after = recurrence.next_after(after, after).unwrap().unwrap();
            for _ in 0..730 {
                let next = recurrence.next_after(after, after).unwrap().unwrap();
                let hours = next.since(after).as_secs() / 3600;
                assert!((22..=26).contains(&hours), "{expression} {zone}: {after} to {next}");
                after = next;
            }
        }
    }
}

#[test]
fn looking_back_finds_what_looking_forward_found() {
    for (expression, zone) in [
        ("*/30 * * * *", "Europe/Berlin"),
        ("30 2 * * *", "Europe/Berlin"),
        ("0 0 1 * *", "America/New_York"),
    ] {
        let recurrence = cron(expression, zone);
        let start = at("2026-10-20T00:00:00Z");
        let first = recurrence.next_after(start, start).unwrap().unwrap();
        let mut forward = vec![first];
        let end = at("2026-11-10T00:00:00Z");
        while let Some(next) = recurrence.next_after(first, *forward.last().unwrap()).unwrap() {
            if next > end {
                break;
            }
            forward.push(next);
        }
        let mut backward = newest_due(&recurrence, first, end).unwrap();
        backward.reverse();
        assert_eq!(
            forward[forward.len().saturating_sub(backward.len())..],
            backward,
            "{expression}"
        );
        assert!(backward.len() == forward.len() || backward.len() == MISSED_MAX as usize);
    }
}

#[test]
fn missed_occurrences_follow_the_policy() {
    let check = |recurrence: &Recurrence, misfire, next_at, now, fire: &[&str], missed, next| {
        let plan = plan(recurrence, misfire, at(next_at), at(now), GRACE).unwrap();
        let fired: Vec<_> =
            plan.fire.iter().map(|time| time.to_string().replace(".000Z", "Z")).collect();
        assert_eq!(fired, fire, "{recurrence:?} {misfire:?}");
        assert_eq!(plan.missed, missed, "{recurrence:?} {misfire:?}");
        assert_eq!(plan.next_at, Option::map(next, at), "{recurrence:?} {misfire:?}");
    };
    let (minute, hourly) = (every(60), cron("0 * * * *", ""));
    let all = Misfire::FireAll { max: 3 };
    let (due, hours_later) = ("2026-01-01T10:00:00Z", "2026-01-01T15:10:00Z");
    let next = Some("2026-01-01T16:00:00Z");

    // On time: every policy fires it.
    for misfire in [Misfire::FireOnce, all, Misfire::Skip] {
        check(
            &minute,
            misfire,
            due,
            "2026-01-01T10:00:00.200Z",
            &[due],
            0,
            Some("2026-01-01T10:01:00Z"),
        );
        check(
            &hourly,
            misfire,
            due,
            "2026-01-01T10:00:20Z",
            &[due],
            0,
            Some("2026-01-01T11:00:00Z"),
        );
    }
    // Not yet.
    check(&hourly, Misfire::FireOnce, due, "2026-01-01T09:59:59.999Z", &[], 0, Some(due));

    check(&hourly, Misfire::FireOnce, due, hours_later, &["2026-01-01T15:00:00Z"], 5, next);
    check(
        &hourly,
        all,
        due,
        hours_later,
        &["2026-01-01T13:00:00Z", "2026-01-01T14:00:00Z", "2026-01-01T15:00:00Z"],
        3,
        next,
    );
    check(&hourly, Misfire::Skip, due, hours_later, &[], 6, next);
    // The newest is still on time.
    check(&hourly, Misfire::Skip, due, "2026-01-01T15:00:10Z", &["2026-01-01T15:00:00Z"], 5, next);

    let year_later = "2027-01-01T10:00:00Z";
    let after = Some("2027-01-01T10:01:00Z");
    check(&minute, Misfire::FireOnce, due, year_later, &[year_later], 999, after);
    check(&minute, Misfire::Skip, due, "2027-01-01T10:00:45Z", &[], 1_000, after);

    // Once: late, or not at all.
    let once = Recurrence::Once { at: at(due) };
    check(&once, Misfire::FireOnce, due, hours_later, &[due], 0, None);
    check(&once, all, due, hours_later, &[due], 0, None);
    check(&once, Misfire::Skip, due, hours_later, &[], 1, None);
    check(&once, Misfire::Skip, due, "2026-01-01T10:00:01Z", &[due], 0, None);
}

#[test]
fn intervals_count_from_the_nominal_time() {
    let due = at("2026-01-01T10:00:00.250Z");
    let plan =
        plan(&every(10), Misfire::FireOnce, due, due.after(Duration::from_millis(9_999)), GRACE);
    assert_eq!(plan.unwrap().next_at, Some(due.after(Duration::from_secs(10))));
    assert_eq!(
        every(10).next_after(due, due.after(Duration::from_secs(20))).unwrap(),
        Some(due.after(Duration::from_secs(30)))
    );
    assert_eq!(every(10).next_after(due, due.before(Duration::from_secs(1))).unwrap(), Some(due));
    let forever = Recurrence::Every { interval: Duration::MAX };
    assert_eq!(forever.next_after(due, due).unwrap(), None);
}

#[test]
fn a_time_in_the_past_or_the_far_future_is_no_surprise() {
    let past = Recurrence::Once { at: at("2020-01-01T00:00:00Z") };
    let now = at("2026-01-01T00:00:00Z");
    assert_eq!(past.next_after(now, now).unwrap(), None);
    let future = Recurrence::Once { at: at("9999-12-29T00:00:00Z") };
    assert_eq!(future.next_after(now, now).unwrap(), Some(at("9999-12-29T00:00:00Z")));
    // 30 February never comes: the schedule is over.
    assert_eq!(cron("0 0 30 2 *", "").next_after(now, now).unwrap(), None);
    let end = at("9999-12-30T21:59:59Z");
    assert_eq!(cron("0 0 1 1 *", "").next_after(end, end).unwrap(), None);
}

#[test]
fn what_cannot_be_read_says_why() {
    let now = at("2026-01-01T00:00:00Z");
    for expression in ["", "* * * *", "61 * * * *", "* * * * * * 2027", "every day"] {
        let error = cron(expression, "").next_after(now, now).unwrap_err();
        assert!(error.to_string().contains(&format!("{expression:?}")), "{error}");
    }
    let error = cron("* * * * *", "Mars/Olympus").next_after(now, now).unwrap_err();
    assert!(error.to_string().contains("Mars/Olympus"), "{error}");
}
