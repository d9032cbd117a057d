//! The promises of [`Wire`].

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::time::Duration;

use futures::StreamExt as _;

use super::queue::must_name_size_and_limit;
use super::{message, must, within};
use crate::{Bus, Endpoint, Error, Subscription};

/// Runs every check of this module, each on its own bus.
pub async fn exercise<B: Bus + Clone>(make: impl AsyncFn() -> B) {
    every_subscriber_hears_a_message(&make().await).await;
    a_request_is_answered_once(&make().await).await;
    a_request_without_an_answer_says_why(&make().await).await;
    all_who_hear_a_question_answer_it(&make().await).await;
    a_message_that_is_too_large_is_refused(&make().await).await;
    services_of_one_name_share_requests(make().await).await;
}

async fn hear(subscription: &mut Subscription) -> Vec<u8> {
    within("a message", subscription.next()).await.map_or_else(Vec::new, |it| it.message.payload)
}

async fn every_subscriber_hears_a_message(bus: &impl Bus) {
    let mut one = must("subscribe", bus.subscribe("news.*").await);
    let mut all = must("subscribe", bus.subscribe("news.>").await);
    let mut tried = must("subscribe", bus.subscribe_if_allowed("news.*").await);
    let mut sent = message("news.a", None, "1");
    sent.headers.insert("X-Header".to_owned(), "yes".to_owned());
    must("send", bus.send(sent.clone()).await);
    must("send", bus.send(message("news.a.b", None, "2")).await);
    must("send", bus.send(message("other", None, "3")).await);
    must("send", bus.send(message("news.c", None, "4")).await);
    let first = within("a message", one.next()).await;
    assert_eq!(first.map(|it| (it.message, it.reply)), Some((sent, None)));
    assert_eq!(hear(&mut one).await, b"4");
    for expected in [b"1", b"4"] {
        let heard = within("a message", tried.next()).await;
        assert_eq!(
            heard.map(|it| must("hear", it).message.payload).as_deref(),
            Some(&expected[..])
        );
    }
    for expected in [b"1", b"2", b"4"] {
        assert_eq!(hear(&mut all).await, expected);
    }
}

async fn a_request_is_answered_once(bus: &impl Bus) {
    let mut questions = must("subscribe", bus.subscribe("ask").await);
    let answer = async {
        let question = within("a question", questions.next()).await;
        let reply = question.and_then(|question| question.reply).unwrap_or_default();
        must("answer", bus.send(message(&reply, None, "42")).await);
    };
    let request = bus.request(message("ask", None, "?"), Duration::from_secs(5));
    let (answered, ()) = tokio::join!(request, answer);
    assert_eq!(must("request", answered).payload, b"42");

    let (first, second) = (bus.inbox(), bus.inbox());
    assert_ne!(first, second);
    let mut inbox = must("subscribe", bus.subscribe(&first).await);
    must("send", bus.send(message(&second, None, "not this")).await);
    must("send", bus.send(message(&first, None, "this")).await);
    assert_eq!(hear(&mut inbox).await, b"this");
}

async fn a_message_that_is_too_large_is_refused(bus: &impl Bus) {
    let large = || message("large", None, &"x".repeat(1024 * 1024 + 1));
    must_name_size_and_limit(&bus.send(large()).await);
    must_name_size_and_limit(&bus.request(large(), Duration::from_secs(5)).await);
    must("send", bus.send(message("large", None, "small")).await);
}

async fn all_who_hear_a_question_answer_it(bus: &impl Bus) {
    let mut heard = Vec::new();
    for _ in 0..2 {
        heard.push(must("subscribe", bus.subscribe("who").await));
    }
    let mut answers = must("ask", bus.ask_all(message("who", None, "?")).await);
    for (number, questions) in heard.iter_mut().enumerate() {
        let question = within("a question", questions.next()).await;
        let reply = question.and_then(|question| question.reply).unwrap_or_default();
        must("answer", bus.send(message(&reply, None, &number.to_string())).await);
    }
    let mut said = [hear(&mut answers).await, hear(&mut answers).await];
    said.sort();
    assert_eq!(said, [b"0", b"1"]);
    drop(must("ask nobody", bus.ask_all(message("nobody", None, "?")).await));
}

async fn a_request_without_an_answer_says_why(bus: &impl Bus) {
    let nobody = bus.request(message("nobody", None, ""), Duration::from_secs(5)).await;
    assert!(matches!(nobody, Err(Error::Unavailable(_))), "{nobody:?}");
    let _silent = must("subscribe", bus.subscribe("silent").await);
    let silence = bus.request(message("silent", None, ""), Duration::from_millis(200)).await;
    assert!(matches!(silence, Err(Error::Unknown(_))), "{silence:?}");
}

async fn services_of_one_name_share_requests<B: Bus + Clone>(bus: B) {
    let endpoints = || {
        ["get", "start"].map(|name| Endpoint {
            name: name.to_owned(),
            subject: format!("staunch.api.{name}.*"),
        })
    };
    let mut servers = Vec::new();
    for number in 0..2 {
        let served = bus.serve("staunch-test", "0.1.0", "a test", endpoints().to_vec()).await;
        let mut requests = must("serve", served);
        let bus = bus.clone();
        servers.push(tokio::spawn(async move {
            while let Some(request) = requests.next().await {
                let answer = message(&request.reply.unwrap_or_default(), None, &number.to_string());
                must("answer", bus.send(answer).await);
            }
        }));
    }
    for number in 0..20 {
        let subject =
            format!("staunch.api.{}.{number}", if number % 2 == 0 { "get" } else { "start" });
        let answer = bus.request(message(&subject, None, ""), Duration::from_secs(5)).await;
        assert!(matches!(&must("request", answer).payload[..], b"0" | b"1"));
    }
    for server in servers {
        server.abort();
    }
}
