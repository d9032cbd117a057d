//! Secrets.

use super::case::{Subject, cases};
use super::sample::at;
use crate::{Rewrapped, Secret};

cases![a_secret_has_one_name, a_secret_is_replaced_if_it_is_as_it_was, keys_are_rewrapped_at_once];

fn secret(name: &str) -> Secret {
    Secret {
        name: name.to_owned(),
        id: format!("id-{name}"),
        display_name: "Key of the shop".to_owned(),
        description: Some("for payments".to_owned()),
        type_name: "Text".to_owned(),
        scope: None,
        tags: vec!["pay".to_owned(), "shop".to_owned()],
        is_revoked: false,
        version: 1,
        created_at: at(1),
        updated_at: None,
        expires_at: Some(at(9)),
        wrapped_key: format!("wrapped {name}"),
        ciphertext: "encrypted".to_owned(),
    }
}

async fn a_secret_has_one_name(store: Subject) {
    assert!(store.create_secret(&secret("b")).await.unwrap());
    assert!(store.create_secret(&secret("a")).await.unwrap());
    let other = Secret { id: "other".to_owned(), ..secret("a") };
    assert!(!store.create_secret(&other).await.unwrap());
    assert_eq!(store.secret("a").await.unwrap(), Some(secret("a")));
    assert_eq!(store.secret("c").await.unwrap(), None);
    assert_eq!(store.secrets().await.unwrap(), [secret("a"), secret("b")]);
    assert!(store.delete_secret("a").await.unwrap());
    assert!(!store.delete_secret("a").await.unwrap());
    assert_eq!(store.secrets().await.unwrap(), [secret("b")]);
    assert!(store.create_secret(&Secret { name: "c\0".to_owned(), ..other }).await.is_err());
}

async fn a_secret_is_replaced_if_it_is_as_it_was(store: Subject) {
    let first = secret("a");
    store.create_secret(&first).await.unwrap();
    let second = Secret {
        version: 2,
        is_revoked: true,
        updated_at: Some(at(5)),
        expires_at: None,
        ciphertext: "other".to_owned(),
        ..first.clone()
    };
    assert!(store.replace_secret(&first, &second).await.unwrap());
    assert!(!store.replace_secret(&first, &second).await.unwrap(), "it has changed meanwhile");
    assert_eq!(store.secret("a").await.unwrap(), Some(second));
    assert!(!store.replace_secret(&secret("b"), &secret("b")).await.unwrap(), "there is none");
}

async fn keys_are_rewrapped_at_once(store: Subject) {
    for name in ["a", "b"] {
        store.create_secret(&secret(name)).await.unwrap();
    }
    let change = |name: &str, from: &str| Rewrapped {
        name: name.to_owned(),
        from: from.to_owned(),
        to: format!("new {name}"),
    };
    let stale = [change("a", "wrapped a"), change("b", "something else")];
    assert!(!store.rewrap_secrets(&stale).await.unwrap());
    assert_eq!(store.secrets().await.unwrap(), [secret("a"), secret("b")], "all or none");
    let right = [change("a", "wrapped a"), change("b", "wrapped b")];
    assert!(store.rewrap_secrets(&right).await.unwrap());
    let keys = store.secrets().await.unwrap().into_iter().map(|one| one.wrapped_key);
    assert_eq!(keys.collect::<Vec<_>>(), ["new a", "new b"]);
}
