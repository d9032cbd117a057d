//! Sessions, signing keys, and the counts of failed logins.

use std::time::Duration;

use super::case::{Subject, at_once, cases};
use super::identity::{role, user};
use super::sample::at;
use crate::{
    CountedLogin, LoginLimit, OpenSession, Renewal, Renewed, Session, SigningKey, User, UserChange,
};

cases![
    a_session_has_its_user_and_roles_as_they_are_now,
    a_session_ends_with_its_user_or_its_generation,
    a_refresh_token_is_used_once,
    a_used_refresh_token_ends_its_session,
    of_many_uses_at_once_one_replaces,
    the_newest_signing_key_is_first,
    failed_logins_lead_to_a_pause,
    a_login_that_is_taken_out_leaves_no_trace,
    a_login_that_is_taken_out_leaves_a_later_one,
    of_many_logins_at_once_only_the_free_ones_pass,
    what_has_expired_is_removed,
];

fn session(id: &str) -> Session {
    Session {
        id: id.to_owned(),
        user_id: "1".to_owned(),
        generation: 0,
        token_id: "t1".to_owned(),
        previous_id: None,
        rotated_at: at(0),
        expires_at: at(1_000),
    }
}

fn renewal(token_id: &str, next_id: &str, millis: i64) -> Renewal {
    Renewal {
        session_id: "s".to_owned(),
        token_id: token_id.to_owned(),
        next_id: next_id.to_owned(),
        now: at(millis),
        expires_at: at(millis + 1_000),
        reuse: Duration::from_millis(100),
    }
}

async fn begin(store: &Subject) {
    store.create_user(&user("1", "zoe")).await.unwrap();
    store.begin_session(&session("s")).await.unwrap();
}

async fn is_open(store: &Subject) -> bool {
    store.session("s", at(999)).await.unwrap().is_some()
}

async fn a_session_has_its_user_and_roles_as_they_are_now(store: Subject) {
    begin(&store).await;
    let expected = OpenSession { session: session("s"), user: user("1", "zoe"), roles: Vec::new() };
    assert_eq!(store.session("s", at(0)).await.unwrap(), Some(expected.clone()));
    store.create_role(&role("reader")).await.unwrap();
    store.create_role(&role("writer")).await.unwrap();
    let expected = OpenSession { roles: vec![role("reader")], ..expected };
    assert_eq!(store.session("s", at(999)).await.unwrap(), Some(expected));
    assert_eq!(store.session("s", at(1_000)).await.unwrap(), None, "it has expired");
    assert_eq!(store.session("x", at(0)).await.unwrap(), None);
    assert!(store.end_session("s").await.unwrap());
    assert!(!store.end_session("s").await.unwrap());
    assert!(!is_open(&store).await);
}

async fn a_session_ends_with_its_user_or_its_generation(store: Subject) {
    begin(&store).await;
    let disable = |is_disabled| UserChange { is_disabled: Some(is_disabled), ..Default::default() };
    store.change_user("1", &disable(true)).await.unwrap();
    assert!(!is_open(&store).await, "a disabled user has none");
    store.change_user("1", &disable(false)).await.unwrap();
    assert!(is_open(&store).await);
    let ends = UserChange { ends_sessions: true, ..UserChange::default() };
    store.change_user("1", &ends).await.unwrap();
    assert!(!is_open(&store).await, "it is of an earlier generation");
    store
        .begin_session(&Session { id: "s2".to_owned(), generation: 1, ..session("s") })
        .await
        .unwrap();
    assert!(store.session("s2", at(0)).await.unwrap().is_some());
    store.delete_user("1").await.unwrap();
    assert_eq!(store.session("s2", at(0)).await.unwrap(), None);
    store.create_user(&User { generation: 1, ..user("1", "zoe") }).await.unwrap();
    assert_eq!(store.session("s2", at(0)).await.unwrap(), None, "it went with the user");
}

async fn a_refresh_token_is_used_once(store: Subject) {
    begin(&store).await;
    let renewed = Session {
        token_id: "t2".to_owned(),
        previous_id: Some("t1".to_owned()),
        rotated_at: at(10),
        expires_at: at(1_010),
        ..session("s")
    };
    let first = store.renew_session(&renewal("t1", "t2", 10)).await.unwrap();
    assert_eq!(first, Renewed::Session(renewed.clone()));
    let again = store.renew_session(&renewal("t1", "t3", 109)).await.unwrap();
    assert_eq!(again, Renewed::Session(renewed), "soon after, the answer is the same");
    let next = store.renew_session(&renewal("t2", "t4", 900)).await.unwrap();
    assert!(matches!(next, Renewed::Session(next) if next.token_id == "t4"));
    let over = store.renew_session(&renewal("t4", "t5", 1_900)).await.unwrap();
    assert_eq!(over, Renewed::Over, "it has expired");
    let unknown = Renewal { session_id: "x".to_owned(), ..renewal("t4", "t5", 900) };
    assert_eq!(store.renew_session(&unknown).await.unwrap(), Renewed::Over);
}

async fn a_used_refresh_token_ends_its_session(store: Subject) {
    begin(&store).await;
    store.renew_session(&renewal("t1", "t2", 10)).await.unwrap();
    let reused = store.renew_session(&renewal("t1", "t3", 110)).await.unwrap();
    assert_eq!(reused, Renewed::Reused);
    assert!(!is_open(&store).await);
    let over = store.renew_session(&renewal("t2", "t4", 111)).await.unwrap();
    assert_eq!(over, Renewed::Over, "the good token ends with its session");
}

async fn of_many_uses_at_once_one_replaces(store: Subject) {
    begin(&store).await;
    let used = at_once(8, |number| {
        let store = Subject::clone(&store);
        let renewal = renewal("t1", &format!("n{number}"), 10);
        async move { store.renew_session(&renewal).await.unwrap() }
    })
    .await;
    assert!(used.iter().all(|one| one == &used[0]), "{used:?}");
    assert!(matches!(&used[0], Renewed::Session(session) if session.token_id.starts_with('n')));
}

async fn the_newest_signing_key_is_first(store: Subject) {
    let key = |id: &str, millis| SigningKey {
        id: id.to_owned(),
        secret: vec![0, 159, 255, 7],
        created_at: at(millis),
        retired_at: None,
    };
    assert_eq!(store.signing_keys().await.unwrap(), []);
    for (id, millis) in [("a", 1), ("b", 3), ("c", 2)] {
        store.add_signing_key(&key(id, millis)).await.unwrap();
    }
    assert_eq!(store.signing_keys().await.unwrap(), [key("b", 3), key("c", 2), key("a", 1)]);
    store.retire_signing_keys("c", at(5)).await.unwrap();
    store.retire_signing_keys("b", at(6)).await.unwrap();
    let retired = |id: &str, millis, at_millis| SigningKey {
        retired_at: Some(at(at_millis)),
        ..key(id, millis)
    };
    let expected = [retired("b", 3, 5), retired("c", 2, 6), retired("a", 1, 5)];
    assert_eq!(store.signing_keys().await.unwrap(), expected, "the first retirement counts");
    assert!(store.delete_signing_key("a").await.unwrap());
    assert!(!store.delete_signing_key("a").await.unwrap());
    assert_eq!(store.signing_keys().await.unwrap().len(), 2);
}

const LIMIT: LoginLimit = LoginLimit {
    free: 3,
    first: Duration::from_millis(100),
    longest: Duration::from_millis(400),
    kept: Duration::from_millis(10_000),
};

async fn count(store: &Subject, subject: &str, millis: i64) -> Option<i64> {
    let counted = store.count_login(subject, &LIMIT, at(millis)).await.unwrap();
    counted.err().map(|until| until.as_millis() - at(0).as_millis())
}

async fn counted(store: &Subject, subject: &str, millis: i64) -> CountedLogin {
    store.count_login(subject, &LIMIT, at(millis)).await.unwrap().unwrap()
}

async fn uncount(store: &Subject, subject: &str, login: &CountedLogin) {
    store.uncount_login(subject, &LIMIT, login).await.unwrap();
}

async fn failed_logins_lead_to_a_pause(store: Subject) {
    for _ in 0..3 {
        assert_eq!(count(&store, "a", 0).await, None);
    }
    assert_eq!(count(&store, "a", 99).await, Some(100));
    assert_eq!(count(&store, "b", 99).await, None, "another account has no pause");
    let fourth = counted(&store, "a", 100).await;
    assert_eq!(count(&store, "a", 200).await, Some(300), "the pause doubles");
    uncount(&store, "a", &fourth).await;
    assert_eq!(count(&store, "a", 200).await, None);
    store.forgive_logins("a").await.unwrap();
    for _ in 0..3 {
        assert_eq!(count(&store, "a", 300).await, None);
    }
    assert_eq!(count(&store, "a", 300).await, Some(400));
    for _ in 0..3 {
        assert_eq!(count(&store, "a", 10_300).await, None, "old failures do not count");
    }
    uncount(&store, "unknown", &fourth).await;
    store.forgive_logins("unknown").await.unwrap();
    assert_eq!(count(&store, "unknown", 300).await, None);
}

async fn a_login_that_is_taken_out_leaves_no_trace(store: Subject) {
    for _ in 0..3 {
        assert_eq!(count(&store, "a", 0).await, None);
    }
    for millis in [100, 101, 9_999] {
        let right = counted(&store, "a", millis).await;
        uncount(&store, "a", &right).await;
    }
    assert_eq!(store.forget_logins(at(9_999), 10).await.unwrap(), 0);
    assert_eq!(store.forget_logins(at(10_000), 10).await.unwrap(), 1, "no right login keeps it");
    let first = counted(&store, "b", 0).await;
    assert_eq!(first.before, None);
    uncount(&store, "b", &first).await;
    assert_eq!(store.forget_logins(at(20_000), 10).await.unwrap(), 0, "it is as if never counted");
}

async fn a_login_that_is_taken_out_leaves_a_later_one(store: Subject) {
    for _ in 0..2 {
        assert_eq!(count(&store, "a", 0).await, None);
    }
    let limit = LoginLimit { free: 4, ..LIMIT };
    let right = counted(&store, "a", 50).await;
    let later = store.count_login("a", &limit, at(60)).await.unwrap().unwrap();
    assert_eq!(later.attempts.count, 4);
    uncount(&store, "a", &right).await;
    assert_eq!(count(&store, "a", 70).await, Some(160), "three, and the last one at 60");
    // It leaves the time of the one before it.
    uncount(&store, "a", &later).await;
    let next = counted(&store, "a", 80).await;
    assert_eq!(next.before.map(|before| before.count), Some(2));
    assert_eq!(next.before.map(|before| before.last_at), Some(at(50)));
}

async fn of_many_logins_at_once_only_the_free_ones_pass(store: Subject) {
    let counted = at_once(12, |_| {
        let store = Subject::clone(&store);
        async move { store.count_login("a", &LIMIT, at(0)).await }
    })
    .await;
    let passed = counted.iter().filter(|one| matches!(one, Ok(Ok(_)))).count();
    assert_eq!(passed, 3, "{counted:?}");
}

async fn what_has_expired_is_removed(store: Subject) {
    begin(&store).await;
    for id in ["s2", "s3"] {
        let expires_at = at(5_000);
        store.begin_session(&Session { expires_at, ..session(id) }).await.unwrap();
    }
    for subject in ["a", "b", "c"] {
        count(&store, subject, 0).await;
    }
    assert_eq!(store.forget_logins(at(999), 10).await.unwrap(), 0);
    assert_eq!(store.forget_logins(at(1_000), 10).await.unwrap(), 1);
    assert_eq!(store.forget_logins(at(10_000), 2).await.unwrap(), 2);
    assert_eq!(store.forget_logins(at(10_000), 2).await.unwrap(), 1);
    assert_eq!(store.forget_logins(at(10_000), 2).await.unwrap(), 0);
}
