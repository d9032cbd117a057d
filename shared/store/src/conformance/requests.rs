//! Requests with an idempotency key.

use super::case::{Subject, at_once, cases};
use super::sample::at;
use crate::{Claim, KeyedRequest};

cases![
    a_key_belongs_to_the_request_that_claimed_it,
    an_answer_is_kept_with_its_request,
    a_released_or_expired_key_is_free,
    of_many_claims_at_once_one_is_new,
];

fn request(id: &str, fingerprint: &str) -> KeyedRequest {
    KeyedRequest { id: id.into(), fingerprint: fingerprint.to_owned(), expires_at: at(10) }
}

async fn a_key_belongs_to_the_request_that_claimed_it(store: Subject) {
    assert_eq!(store.claim(&request("k", "f"), at(0)).await.unwrap(), Claim::New);
    assert_eq!(store.claim(&request("k", "f"), at(1)).await.unwrap(), Claim::Repeated(None));
    assert_eq!(store.claim(&request("k", "g"), at(1)).await.unwrap(), Claim::Reused);
    assert_eq!(store.claim(&request("l", "g"), at(1)).await.unwrap(), Claim::New);
}

async fn an_answer_is_kept_with_its_request(store: Subject) {
    let (first, other) = (request("k", "f"), request("k", "g"));
    store.keep_answer(&first, b"never asked".to_vec()).await.unwrap();
    assert_eq!(store.claim(&first, at(0)).await.unwrap(), Claim::New);
    store.keep_answer(&other, b"other".to_vec()).await.unwrap();
    assert_eq!(store.claim(&first, at(0)).await.unwrap(), Claim::Repeated(None));
    store.keep_answer(&first, b"answer".to_vec()).await.unwrap();
    store.release(&first).await.unwrap();
    let kept = Claim::Repeated(Some(b"answer".to_vec()));
    assert_eq!(store.claim(&first, at(1)).await.unwrap(), kept);
    assert_eq!(store.claim(&other, at(1)).await.unwrap(), Claim::Reused);
}

async fn a_released_or_expired_key_is_free(store: Subject) {
    let (first, other) = (request("k", "f"), request("k", "g"));
    assert_eq!(store.claim(&first, at(0)).await.unwrap(), Claim::New);
    store.release(&other).await.unwrap();
    assert_eq!(store.claim(&other, at(0)).await.unwrap(), Claim::Reused);
    store.release(&first).await.unwrap();
    assert_eq!(store.claim(&other, at(0)).await.unwrap(), Claim::New);
    store.keep_answer(&other, b"old".to_vec()).await.unwrap();
    let later = KeyedRequest { expires_at: at(20), ..first };
    assert_eq!(store.claim(&later, at(10)).await.unwrap(), Claim::New);
    assert_eq!(store.claim(&later, at(19)).await.unwrap(), Claim::Repeated(None));
    assert_eq!(store.claim(&request("l", "f"), at(0)).await.unwrap(), Claim::New);
    assert_eq!(store.forget_requests(at(10), 5).await.unwrap(), 1);
    assert_eq!(store.forget_requests(at(10), 5).await.unwrap(), 0);
    assert_eq!(store.claim(&later, at(19)).await.unwrap(), Claim::Repeated(None));
}

async fn of_many_claims_at_once_one_is_new(store: Subject) {
    let claims = at_once(8, |number| {
        let store = std::sync::Arc::clone(&store);
        async move { store.claim(&request("k", &format!("f{number}")), at(0)).await.unwrap() }
    })
    .await;
    assert_eq!(claims.iter().filter(|claim| **claim == Claim::New).count(), 1, "{claims:?}");
    assert_eq!(claims.iter().filter(|claim| **claim == Claim::Reused).count(), 7, "{claims:?}");
}
