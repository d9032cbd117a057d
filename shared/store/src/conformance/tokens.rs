//! Single-use URL tokens.

use model::TokenTarget;

use super::case::{Subject, at_once, cases};
use super::sample::{at, message, pending, token};

cases![
    a_granted_token_is_good_until_it_expires,
    a_token_is_used_once,
    one_of_many_uses_a_token,
    an_expired_token_accepts_nothing,
];

async fn a_granted_token_is_good_until_it_expires(store: Subject) {
    let mut new = token("t", "a", at(10));
    new.target = TokenTarget::Event("Approved 🦀".to_owned());
    store.grant(new.clone()).await.unwrap();
    store.grant(token("t", "b", at(99))).await.unwrap();
    assert_eq!(store.token("t", at(9)).await.unwrap(), Some(new));
    assert_eq!(store.token("t", at(10)).await.unwrap(), None);
    assert_eq!(store.token("u", at(9)).await.unwrap(), None);
    let mut new = token("u", "a", at(10));
    new.target = TokenTarget::Activity("Flow:Approve".to_owned());
    store.grant(new.clone()).await.unwrap();
    assert_eq!(store.token("u", at(9)).await.unwrap(), Some(new));
}

async fn a_token_is_used_once(store: Subject) {
    store.grant(token("t", "a", at(10))).await.unwrap();
    assert!(store.redeem("t", at(9), pending("c", "E", at(0))).await.unwrap());
    assert_eq!(store.token("t", at(9)).await.unwrap(), None);
    assert!(!store.redeem("t", at(9), pending("d", "E", at(0))).await.unwrap());
    assert_eq!(store.unapplied(at(1), 10).await.unwrap(), [message("c")]);
}

async fn one_of_many_uses_a_token(store: Subject) {
    store.grant(token("t", "a", at(10))).await.unwrap();
    store.grant(token("u", "a", at(10))).await.unwrap();
    let results = at_once(40, |number| {
        let store = Subject::clone(&store);
        let hash = if number % 2 == 0 { "t" } else { "u" };
        async move {
            let command = pending(&format!("c{number:02}"), "E", at(0));
            store.redeem(hash, at(1), command).await.unwrap()
        }
    })
    .await;
    let mut winners: Vec<String> = Vec::new();
    for (number, used) in results.iter().enumerate() {
        winners.extend(used.then(|| format!("c{number:02}")));
    }
    assert_eq!(winners.len(), 2);
    let expected: Vec<_> = winners.iter().map(|name| message(name)).collect();
    assert_eq!(store.unapplied(at(1), 100).await.unwrap(), expected);
}

async fn an_expired_token_accepts_nothing(store: Subject) {
    store.grant(token("t", "a", at(10))).await.unwrap();
    assert!(!store.redeem("t", at(10), pending("c", "E", at(0))).await.unwrap());
    assert!(!store.redeem("u", at(0), pending("c", "E", at(0))).await.unwrap());
    assert_eq!(store.unapplied(at(1), 10).await.unwrap(), []);
}
