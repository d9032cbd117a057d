use axum::body::Body;
use axum::http::Request;
use model::{Token, TokenTarget};
use serde_json::{Value, json};
use store::Tokens as _;

use super::world::{World, waits_for};

const API: &str = "/elsa/api";

async fn link(world: &World, id: &str, body: &Value) -> Value {
    let bookmarks =
        world.get(&format!("{API}/workflow-instances/{id}/bookmarks")).await.expect(200);
    let bookmark = bookmarks["items"][0]["id"].as_str().unwrap();
    let path = format!("{API}/workflow-instances/{id}/bookmarks/{bookmark}/url");
    let made = world.post(&path, body).await;
    assert_eq!(made.header("cache-control"), Some("no-store"), "its token is a secret");
    made.expect(200)
}

fn path_of(made: &Value) -> String {
    let url = made["url"].as_str().unwrap();
    url.strip_prefix("http://127.0.0.1:5001").unwrap().to_owned()
}

#[tokio::test]
async fn a_link_resumes_once_and_every_other_use_looks_the_same() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let made = link(&world, &id, &json!({})).await;
    let path = path_of(&made);
    assert!(path.starts_with("/bookmarks/resume?t="), "{path}");
    assert_eq!(path.len(), "/bookmarks/resume?t=".len() + 43, "256 bits");
    let head = Request::head(path.as_str()).body(Body::empty()).unwrap();
    assert_eq!(world.send(head).await.status, 405, "looking at a link does not use it");
    let broken = world.get(&format!("{path}&in={{")).await.problem(400);
    assert!(broken.contains("query parameter in"), "{broken}");
    // Opened from the page of a mail program, too.
    let request = Request::get(path.as_str()).header("sec-fetch-site", "cross-site");
    let body = world.send(request.body(Body::empty()).unwrap()).await.expect(200);
    assert_eq!(body["subStatus"], "Finished");
    let mut refusals = vec![
        world.get(&path).await,
        world.get("/bookmarks/resume?t=never-was-one").await,
        world.get("/bookmarks/resume").await,
        world.post(&path, &json!({"input": {}})).await,
    ];
    let waiting = world.begin("waits").await;
    let short = link(&world, &waiting, &json!({"lifetimeSeconds": 1})).await;
    let expired = path_of(&short);
    testkit::eventually("the link expires", super::world::BOUND, async || {
        let now = world.app.now().to_string();
        now.as_str() > short["expiresAt"].as_str().unwrap()
    })
    .await;
    refusals.push(world.get(&expired).await);
    for refusal in refusals {
        let body = refusal.expect(404);
        assert_eq!(body["type"], "urn:staunch:problem:invalid-token");
        assert_eq!(
            body["detail"],
            "the link is not valid: it was used before, has expired, or never existed"
        );
    }
    let audit = world.get(&format!("{API}/audit")).await.expect(200);
    let what = audit["items"].as_array().unwrap().iter().map(|entry| entry["what"].clone());
    let what: Vec<_> = what.filter(|what| what != "definition.publish").collect();
    let (refused, granted): (Vec<_>, Vec<_>) =
        what.into_iter().partition(|what| what == "token.refuse");
    assert_eq!(refused.len(), 4, "repeated, expired and unknown tokens");
    assert_eq!(granted, ["token.grant", "token.bookmark.resume", "token.grant"]);
    let token = path.rsplit('=').next().unwrap();
    assert!(!audit.to_string().contains(token), "tokens are not written down");
}

/// A person opens the link in a browser: what comes is a page for people, not JSON.
#[tokio::test]
async fn a_browser_gets_a_page_that_says_what_came_of_the_link() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let path = path_of(&link(&world, &id, &json!({})).await);
    let opened = async |language: &str| {
        let request = Request::get(path.as_str())
            .header("accept", "text/html,application/xhtml+xml,*/*;q=0.8")
            .header("accept-language", language);
        let answer = world.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        (answer.status.as_u16(), answer.body.as_str().unwrap().to_owned())
    };
    let (status, page) = opened("en").await;
    assert!(status == 200 && page.contains("<h1>It is done</h1>"), "{status}: {page}");
    assert!(!page.contains(&id), "{page}");
    world.until(&id, "Finished").await;
    let (status, page) = opened("en").await;
    assert!(status == 404 && page.contains("It was used before, has expired"), "{status}: {page}");
    let (status, page) = opened("de-DE,de;q=0.9,en;q=0.8").await;
    assert!(status == 404 && page.contains("<html lang=\"de\">"), "{status}: {page}");
    let problem = world.get(&path).await.problem(404);
    assert!(problem.starts_with("the link is not valid"), "{problem}");
}

#[tokio::test]
async fn a_link_may_bring_input_and_answer_at_once() {
    let world = World::new().await;
    let definition = json!({"definitionId": "in", "outputs": [{"name": "Got"}], "root":
        {"type": "Elsa.Sequence", "id": "s", "activities": [
            {"type": "Elsa.Event", "id": "wait", "eventName": "go",
                "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}}]}});
    world.post(&format!("{API}/workflow-definitions"), &definition).await.expect(201);
    let id = world.begin("in").await;
    let path = path_of(&link(&world, &id, &json!({})).await);
    let input = json!({"input": {"__EventPayloadWorkflowInput": {"payload": {"n": 7}}}});
    let answer = world.post(&format!("{API}{path}&async=true"), &input).await;
    assert!(answer.header("location").is_some());
    answer.expect(202);
    world.until(&id, "Finished").await;
    let shown = world.get(&format!("{API}/workflow-instances/{id}")).await.expect(200);
    assert_eq!(shown["workflowState"]["output"]["Got"], json!({"n": 7}));
}

#[tokio::test]
async fn links_are_made_for_open_bookmarks_only() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let id = world.begin("waits").await;
    let path = format!("{API}/workflow-instances/{id}/bookmarks/nope/url");
    world.post(&path, &json!({})).await.problem(404);
    world.post(&path, &json!({"lifetimeSeconds": 0})).await.problem(400);
    world.post(&path, &json!({"lifetime": 1})).await.problem(400);
}

#[tokio::test]
async fn a_link_for_an_activity_is_good_once_the_activity_waits() {
    let world = World::new().await;
    let waits = |id: &str, name: &str| json!({"id": id, "type": "Event", "eventName": name});
    let both =
        json!({"type": "Sequence", "activities": [waits("First", "a"), waits("Second", "b")]});
    world.publish("waits", both).await;
    let id = world.begin("waits").await;
    let shown = world.get(&format!("{API}/workflow-instances/{id}")).await.expect(200);
    let first =
        shown["workflowState"]["bookmarks"][0]["activityNodeId"].as_str().unwrap().to_owned();
    let grant = async |text: &str, of: &str| {
        let token = Token {
            hash: crate::auth::hash_of(text),
            instance_id: id.as_str().into(),
            target: TokenTarget::Activity(first.replace("First", of)),
            created_at: world.app.now(),
            expires_at: world.app.now().after(super::world::BOUND),
        };
        world.store.grant(token).await.unwrap();
    };
    grant("second", "Second").await;
    grant("first", "First").await;
    grant("late", "First").await;
    let early = world.get("/bookmarks/resume?t=second").await.problem(409);
    let told = format!("instance {id} does not wait there now: use the link again once it does");
    assert_eq!(early, told);
    world.get("/bookmarks/resume?t=first").await.expect(200);
    world.get("/bookmarks/resume?t=first").await.problem(404);
    world.get("/bookmarks/resume?t=second").await.expect(200);
    world.until(&id, "Finished").await;
    let late = world.get("/bookmarks/resume?t=late").await.problem(409);
    assert_eq!(late, format!("instance {id} has ended"));
}

#[tokio::test]
async fn a_link_may_trigger_an_event_for_its_instance_alone() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let (one, two) = (world.begin("waits").await, world.begin("waits").await);
    let token = Token {
        hash: crate::auth::hash_of("secret"),
        instance_id: one.as_str().into(),
        target: TokenTarget::Event("go".to_owned()),
        created_at: world.app.now(),
        expires_at: world.app.now().after(super::world::BOUND),
    };
    world.store.grant(token).await.unwrap();
    let body = world.get(&format!("{API}/events/trigger?t=secret")).await.expect(200);
    assert_eq!((&body["eventName"], &body["affected"]), (&json!("go"), &json!(1)));
    world.until(&one, "Finished").await;
    world.until(&two, "Suspended").await;
    world.get("/events/trigger?t=secret").await.problem(404);
}
