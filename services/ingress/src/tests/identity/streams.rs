//! Live streams and connections of the hub end with the credentials that they were opened with.

use std::time::Duration;

use super::*;
use crate::tests::hub::{HUB, Server};
use crate::tests::live::Reader;
use crate::tests::world::waits_for;

const READ: [&str; 1] = ["read:workflow-instances"];

/// Signs of life come quickly, and with them the checks.
fn quick() -> Config {
    Config { heartbeat: Duration::from_millis(50), ..config() }
}

#[tokio::test]
async fn a_stream_ends_when_the_credentials_of_its_reader_do() {
    let world = world_with(quick()).await;
    let admin = login(&world, "admin", PASSWORD).await;
    let open = async |authorization: &str| {
        Reader::open_as(world.router(), "/elsa/api/events", authorization).await
    };
    let body = json!({"name": "reader", "permissions": READ});
    let key = admin.post(&world, "/elsa/api/api-keys", &body).await.expect(201);
    let leaver = make_user(&world, "ann", &READ).await;
    let disabled = make_user(&world, "bob", &READ).await;
    let demoted = make_user(&world, "eve", &READ).await;
    let bearer_of = |login: &Login| format!("Bearer {}", login.access);
    let mut by_key = open(&format!("ApiKey {}", key["key"].as_str().unwrap())).await;
    let mut by_leaver = open(&bearer_of(&leaver)).await;
    let mut by_disabled = open(&bearer_of(&disabled)).await;
    let mut by_demoted = open(&bearer_of(&demoted)).await;
    let mut bystander = open(&bearer_of(&admin)).await;
    for stream in [&mut by_key, &mut by_leaver, &mut by_disabled, &mut by_demoted] {
        assert_eq!(stream.block().await.unwrap(), ": alive");
        assert_eq!(stream.block().await.unwrap(), ": alive");
    }
    let gone = format!("/elsa/api/api-keys/{}", key["id"].as_str().unwrap());
    let gone = bearer("DELETE", &gone, &admin.access, &json!({}));
    assert_eq!(world.send(gone).await.status, 204);
    let out = leaver.post(&world, "/elsa/api/identity/logout", &json!({})).await;
    assert_eq!(out.status, 204);
    let user = format!("/elsa/api/identity/users/{}", id_of(&world, "bob").await);
    let change = bearer("PUT", &user, &admin.access, &json!({"isDisabled": true}));
    world.send(change).await.expect(200);
    let change = json!({"permissions": ["read:user"]});
    let change = bearer("PUT", "/elsa/api/identity/roles/of-eve", &admin.access, &change);
    world.send(change).await.expect(200);
    for (stream, part) in [
        (&mut by_key, "API key"),
        (&mut by_leaver, "session of the token is over"),
        (&mut by_disabled, "session of the token is over"),
        (&mut by_demoted, "permission read:workflow-instances"),
    ] {
        let end = stream.expect("end").await;
        let reason = end.data["reason"].as_str().unwrap();
        assert!(reason.contains(part), "{reason}");
        assert!(stream.next().await.is_none());
    }
    assert_eq!(bystander.block().await.unwrap(), ": alive");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hub_takes_the_token_of_a_login_until_its_session_ends() {
    let world = world_with(quick()).await;
    let admin = login(&world, "admin", PASSWORD).await;
    let definition = json!({"definitionId": "w", "root": waits_for("go")});
    admin.post(&world, "/elsa/api/workflow-definitions", &definition).await.expect(201);
    let start = "/elsa/api/workflow-definitions/w/dispatch";
    let started = admin.post(&world, start, &json!({})).await.expect(200);
    let id = started["workflowInstanceId"].as_str().unwrap();
    let reader = make_user(&world, "zoe", &READ).await;
    let server = Server::start(&world, quick()).await;
    let negotiate = format!("{HUB}/negotiate?negotiateVersion=1");
    reader.post(&world, &negotiate, &json!({})).await.expect(200);
    // In a browser the token is in the query, elsewhere in the header.
    let in_query = format!("{HUB}?access_token={}", reader.access);
    let header = format!("Bearer {}", reader.access);
    let mut clients = [
        server.connect(&in_query, None).await.unwrap(),
        server.connect(HUB, Some(&header)).await.unwrap(),
    ];
    for client in &mut clients {
        client.send(&json!({"protocol": "json", "version": 1})).await;
        assert_eq!(client.next().await.unwrap(), json!({}));
        assert_eq!(client.observe(id).await["error"], Value::Null);
    }
    let refresh = format!("{HUB}?access_token={}", reader.refresh);
    assert!(server.connect(&refresh, None).await.unwrap_err().contains("401"));
    let out = reader.post(&world, "/elsa/api/identity/logout", &json!({})).await;
    assert_eq!(out.status, 204);
    for mut client in clients {
        let close = client.of_type(7).await;
        assert!(
            close["error"].as_str().unwrap().contains("session of the token is over"),
            "{close}"
        );
        assert_eq!(close["allowReconnect"], true, "with another token");
        assert!(client.next().await.is_none());
    }
    assert!(server.connect(HUB, Some(&header)).await.unwrap_err().contains("401"));

    let demoted = make_user(&world, "eve", &READ).await;
    let header = format!("Bearer {}", demoted.access);
    let mut client = server.connect(HUB, Some(&header)).await.unwrap();
    client.send(&json!({"protocol": "json", "version": 1})).await;
    client.next().await.unwrap();
    assert_eq!(client.observe(id).await["error"], Value::Null);
    let change = json!({"permissions": ["read:user"]});
    let change = bearer("PUT", "/elsa/api/identity/roles/of-eve", &admin.access, &change);
    world.send(change).await.expect(200);
    assert!(client.closed().await.contains("read:workflow-instances"));
}

#[tokio::test]
async fn the_hub_says_that_a_token_is_no_good() {
    let with_both = world().await;
    let negotiate = format!("{HUB}/negotiate?negotiateVersion=1");
    let sent = |token: &str| bearer("POST", &negotiate, token, &json!({}));
    // SignalR's clients call a key a token.
    with_both.send(sent(KEY)).await.expect(200);
    let in_query = format!("{negotiate}&access_token=bad");
    for refused in [with_both.send(sent("bad")).await, with_both.post(&in_query, &json!({})).await]
    {
        let named = refused.headers.get_all("www-authenticate").iter();
        let named: Vec<_> = named.map(|named| named.to_str().unwrap().to_owned()).collect();
        assert_eq!(named[0], "ApiKey");
        assert!(named[1].starts_with("Bearer error=\"invalid_token\""), "{named:?}");
        assert!(refused.problem(401).contains("not a JSON Web Token"));
    }
    let unknown = [("authorization", "ApiKey bad")];
    let refused = with_both.send(json_request("POST", &negotiate, &unknown, &json!({}))).await;
    assert!(refused.problem(401).contains("the API key is not known"));

    let only = Auth { api_key: false, ..Auth::BOTH };
    let with_tokens = world_with(Config { auth: only, ..config() }).await;
    let refused = with_tokens.send(sent("bad")).await;
    assert!(refused.problem(401).contains("not a JSON Web Token"));
}
