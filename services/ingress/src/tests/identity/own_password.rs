//! A user changes its own password.

use super::*;

const PATH: &str = "/elsa/api/identity/password";
const OTHER: &str = "another horse battery";

async fn change(world: &World, current: &str, new: &str) -> Answer {
    let body = json!({"username": "zoe", "currentPassword": current, "newPassword": new});
    world.post(PATH, &body).await
}

#[tokio::test]
async fn users_without_permissions_change_their_own_password() {
    let world = world().await;
    let zoe = make_user(&world, "zoe", &[]).await;
    change(&world, "not the password", OTHER).await.problem(403);
    for new in ["short", " spaces around it ", PASSWORD, ""] {
        change(&world, PASSWORD, new).await.problem(400);
    }
    assert!(zoe.is_in_at(&world).await, "nothing has changed");
    assert_eq!(change(&world, PASSWORD, OTHER).await.status, 204);
    assert!(!zoe.is_in_at(&world).await, "all sessions are over");
    let refused = try_login(&world, "zoe", PASSWORD).await.expect(200);
    assert_eq!(refused["isAuthenticated"], false);
    login(&world, "zoe", OTHER).await;
    assert!(audited(&world, "user.password").await && audited(&world, "login.refuse").await);
    let page = world.store.audits(&store::AuditFilter::default(), Page::first()).await.unwrap();
    let log = format!("{:?}", page.items);
    assert!(!log.contains("horse") && !log.contains("not the password"), "{log}");
}

#[tokio::test]
async fn guesses_of_a_password_count_like_logins() {
    let world = world().await;
    make_user(&world, "zoe", &[]).await;
    // Hashing takes real time.
    tokio::time::pause();
    let mut answers = Vec::new();
    for _ in 0..8 {
        answers.push(change(&world, "not the password", OTHER).await.status.as_u16());
    }
    assert_eq!(answers[0], 403);
    assert_eq!(answers[7], 429, "{answers:?}");
    // The right password has to wait, too, there and at the login.
    change(&world, PASSWORD, OTHER).await.problem(429);
    try_login(&world, "zoe", PASSWORD).await.problem(429);
}
