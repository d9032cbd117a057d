use super::*;

const USERS: &str = "/elsa/api/identity/users";
const ROLES: &str = "/elsa/api/identity/roles";
const APPLICATIONS: &str = "/elsa/api/identity/applications";

/// The audit log names keys by their ids, and people ask who made one.
#[tokio::test]
async fn a_key_says_whose_it_is() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let body = json!({"name": "ci", "permissions": ["read:nodes"]});
    let made = admin.post(&world, "/elsa/api/api-keys", &body).await.expect(201);
    assert_eq!(made["owner"], "admin", "{made}");
    let listed = admin.get(&world, "/elsa/api/api-keys").await.expect(200);
    let key = &listed["items"][0];
    assert_eq!((&key["id"], &key["owner"]), (&made["id"], &json!("admin")), "{listed}");
}

#[tokio::test]
async fn answers_have_no_secret_but_those_that_were_drawn() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let role = json!({"name": "Order Clerk", "permissions": ["read:*"]});
    let role = admin.post(&world, ROLES, &role).await.expect(200);
    assert_eq!(role["id"], "order-clerk");
    let roles = admin.get(&world, ROLES).await.expect(200);
    assert_eq!(roles["roles"].as_array().unwrap().len(), 2, "{roles}");

    let body = json!({"name": "zoe", "password": "given password", "roles": ["order-clerk"]});
    let answer = admin.post(&world, USERS, &body).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let made = answer.expect(200);
    for absent in ["password", "hashedPassword", "hashedPasswordSalt", "tenantId"] {
        assert_eq!(made.get(absent), Some(&Value::Null), "{absent}");
    }
    assert_eq!(made["roles"], json!(["order-clerk"]));
    let made = admin.post(&world, USERS, &json!({"name": "eve"})).await.expect(200);
    let drawn = made["password"].as_str().unwrap();
    login(&world, "eve", drawn).await;
    let listed = admin.get(&world, USERS).await.expect(200);
    assert_eq!(listed["users"].as_array().unwrap().len(), 3);
    for secret in [drawn, "argon2", "given password", "assword"] {
        assert!(!listed.to_string().contains(secret), "{listed}");
    }

    let body = json!({"name": "shop", "roles": ["order-clerk"]});
    let made = admin.post(&world, APPLICATIONS, &body).await.expect(200);
    for absent in [
        "clientSecret",
        "hashedApiKey",
        "hashedApiKeySalt",
        "hashedClientSecret",
        "hashedClientSecretSalt",
    ] {
        assert_eq!(made.get(absent), Some(&Value::Null), "{absent}");
    }
    let key = made["apiKey"].as_str().unwrap();
    let with_key = |method: &str, path: &str, body: &Value| {
        json_request(method, path, &[("authorization", &format!("ApiKey {key}"))], body)
    };
    world.send(with_key("GET", USERS, &json!({}))).await.expect(200);
    let refused = world.send(with_key("POST", USERS, &json!({"name": "x"}))).await;
    assert!(refused.problem(403).contains("app:shop"));
    let listed = admin.get(&world, APPLICATIONS).await.expect(200).to_string();
    for secret in [key, "argon2"] {
        assert!(!listed.contains(secret), "{listed}");
    }
    let path = format!("{APPLICATIONS}/{}", made["id"].as_str().unwrap());
    let gone = bearer("DELETE", &path, &admin.access, &json!({}));
    assert_eq!(world.send(gone).await.status, 204);
    world.send(with_key("GET", USERS, &json!({}))).await.problem(401);

    let audit = admin.get(&world, "/elsa/api/audit?pageSize=100").await.expect(200).to_string();
    for what in ["user.create", "role.create", "application.create", "application.delete"] {
        assert!(audit.contains(what), "{what}");
    }
    for secret in [PASSWORD, drawn, key, "given password", "argon2", &admin.access] {
        assert!(!audit.contains(secret), "{secret} is in the audit log");
    }
}

#[tokio::test]
async fn the_keys_of_a_user_are_good_while_the_user_can_log_in() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let zoe = make_user(&world, "zoe", &["read:user", "write:api-keys"]).await;
    let keys = "/elsa/api/api-keys";
    let body = json!({"name": "cron", "permissions": ["read:user", "write:api-keys"]});
    let text = |made: Value| format!("ApiKey {}", made["key"].as_str().unwrap());
    let with = |method: &str, path: &str, key: &str, body: &Value| {
        json_request(method, path, &[("authorization", key)], body)
    };
    let own = text(zoe.post(&world, keys, &body).await.expect(201));
    // A key that such a key makes is of the same user.
    let second = text(world.send(with("POST", keys, &own, &body)).await.expect(201));
    let of_another = text(admin.post(&world, keys, &body).await.expect(201));
    let of_nobody = with("POST", keys, &format!("ApiKey {KEY}"), &body);
    let of_nobody = text(world.send(of_nobody).await.expect(201));
    let user = format!("{USERS}/{}", id_of(&world, "zoe").await);
    for (method, change, expected) in [
        ("PUT", json!({"isDisabled": true}), 401),
        ("PUT", json!({"isDisabled": false}), 200),
        ("DELETE", json!({}), 401),
    ] {
        let done = world.send(bearer(method, &user, &admin.access, &change)).await;
        assert!(done.status.is_success(), "{method} {change}: {:#}", done.body);
        for (key, expected) in
            [(&own, expected), (&second, expected), (&of_another, 200), (&of_nobody, 200)]
        {
            let answer = world.send(with("GET", USERS, key, &json!({}))).await;
            assert_eq!(answer.status, expected, "{method} {change}: {:#}", answer.body);
        }
    }
    // Another user of the same name has none of these keys.
    let body = json!({"name": "zoe", "password": PASSWORD});
    admin.post(&world, USERS, &body).await.expect(200);
    world.send(with("GET", USERS, &own, &json!({}))).await.problem(401);
}

#[tokio::test]
async fn what_is_given_twice_is_kept_once_in_its_order() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let (given, kept) = (json!(["read:*", "*", "read:*"]), json!(["read:*", "*"]));
    let role = json!({"name": "clerk", "permissions": given});
    let made = admin.post(&world, ROLES, &role).await.expect(200);
    assert_eq!(made["permissions"], kept);
    let put = |path: String, body: &Value| bearer("PUT", &path, &admin.access, body);
    let changes = json!({"permissions": ["*", "read:*", "*"]});
    let changed = world.send(put(format!("{ROLES}/clerk"), &changes)).await.expect(200);
    assert_eq!(changed["permissions"], json!(["*", "read:*"]));
    let listed = admin.get(&world, ROLES).await.expect(200);
    let stored = listed["roles"].as_array().unwrap().iter().find(|role| role["id"] == "clerk");
    assert_eq!(stored.unwrap()["permissions"], json!(["*", "read:*"]));

    let (given, kept) = (json!(["clerk", "admin", "clerk"]), json!(["clerk", "admin"]));
    let user = json!({"name": "zoe", "password": "given password", "roles": given});
    let made = admin.post(&world, USERS, &user).await.expect(200);
    assert_eq!(made["roles"], kept);
    let path = format!("{USERS}/{}", made["id"].as_str().unwrap());
    let changes = json!({"roles": ["admin", "admin", "clerk"]});
    let changed = world.send(put(path, &changes)).await.expect(200);
    assert_eq!(changed["roles"], json!(["admin", "clerk"]));
    let application = json!({"name": "shop", "roles": given});
    let made = admin.post(&world, APPLICATIONS, &application).await.expect(200);
    assert_eq!(made["roles"], kept);
    let key = json!({"name": "cron", "permissions": ["read:*", "read:*", "*"]});
    let made = admin.post(&world, "/elsa/api/api-keys", &key).await.expect(201);
    assert_eq!(made["permissions"], json!(["read:*", "*"]));
}

#[tokio::test]
async fn mistakes_are_named() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let role = |body: Value| (ROLES, body);
    let user = |body: Value| (USERS, body);
    for ((path, body), expected, text) in [
        (user(json!({})), 400, "a name has"),
        (user(json!({"name": "a\u{7}b"})), 400, "a name has"),
        (user(json!({"name": "zoe", "password": "short"})), 400, "fewer than 12"),
        (user(json!({"name": "zoe", "roles": ["nothing"]})), 404, "no role \"nothing\""),
        (user(json!({"name": "admin", "password": "long enough one"})), 409, "already"),
        (user(json!({"name": "zoe", "roles": vec!["admin"; 21]})), 400, "at most 20"),
        (
            user(json!({"name": "Admin", "password": "long enough one"})),
            409,
            "user \"admin\" already",
        ),
        (role(json!({"name": "É"})), 400, "give one in id"),
        (role(json!({"name": "a", "id": "A b"})), 400, "lowercase"),
        (role(json!({"name": "Admin", "permissions": ["*"]})), 409, "already"),
        (role(json!({"name": "a", "permissions": [""]})), 400, "a permission has"),
        (role(json!({"name": "a", "permissions": vec!["x"; 101]})), 400, "at most 100"),
        (role(json!({"name": "a", "permissions": ["*", "read:orders"]})), 400, "\"read:orders\""),
        (role(json!({"name": "a", "permissions": ["fly:*"]})), 400, "no such permission"),
        ((APPLICATIONS, json!({"roles": []})), 400, "a name has"),
    ] {
        let detail = admin.post(&world, path, &body).await.problem(expected);
        assert!(detail.contains(text), "{body}: {detail}");
    }
    let put = |path: String, body: Value| bearer("PUT", &path, &admin.access, &body);
    let reed = put(format!("{ROLES}/admin"), json!({"permissions": ["*", "reed:user"]}));
    assert!(world.send(reed).await.problem(400).contains("use * for all, read:* for all"));
    world.send(put(format!("{USERS}/none"), json!({}))).await.problem(404);
    world.send(put(format!("{ROLES}/none"), json!({}))).await.problem(404);
    let delete = |path: String| bearer("DELETE", &path, &admin.access, &json!({}));
    for path in [USERS, ROLES, APPLICATIONS] {
        world.send(delete(format!("{path}/none"))).await.problem(404);
    }
    let in_use = world.send(delete(format!("{ROLES}/admin"))).await;
    assert_eq!(in_use.body["holders"], json!(["admin"]));
    assert!(in_use.problem(409).contains("has the role \"admin\": take it away first"));
    let id = id_of(&world, "admin").await;
    let unchanged = world.send(put(format!("{USERS}/{id}"), json!({}))).await.expect(200);
    assert_eq!(unchanged["roles"], json!(["admin"]));
    assert!(admin.is_in(&world).await, "a change of nothing ends no session");
}

/// People would take one for the other, also where the letters have another form.
#[tokio::test]
async fn names_that_look_like_another_one_are_refused() {
    const WIDE: &str = "\u{ff41}dmin";
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let post = async |path, body: Value| admin.post(&world, path, &body).await;
    for name in ["Clerk", "Other"] {
        post(ROLES, json!({"name": name})).await.expect(200);
    }
    post(APPLICATIONS, json!({"name": "shop"})).await.expect(200);
    for (path, body, named) in [
        (USERS, json!({"name": WIDE}), "a user \"admin\""),
        (USERS, json!({"name": format!("{WIDE}\u{a0}").to_uppercase()}), "a user \"admin\""),
        (ROLES, json!({"name": "\u{ff23}lerk", "id": "two"}), "a role \"Clerk\""),
        (ROLES, json!({"name": "ADMINISTRATOR", "id": "two"}), "a role \"Administrator\""),
        (APPLICATIONS, json!({"name": "\u{ff53}hop"}), "an application \"shop\""),
    ] {
        let answer = post(path, body).await;
        assert_eq!(answer.body["type"], "urn:staunch:problem:name-taken");
        let detail = answer.problem(409);
        assert!(detail.contains(&format!("there is {named} already")), "{detail}");
        assert!(detail.contains("full width"), "{detail}");
    }
    let put = async |body: Value| {
        let path = format!("{ROLES}/other");
        world.send(bearer("PUT", &path, &admin.access, &body)).await
    };
    assert!(put(json!({"name": "clerK"})).await.problem(409).contains("a role \"Clerk\""));
    put(json!({"name": "OTHER"})).await.expect(200);
    post(USERS, json!({"name": "admin2"})).await.expect(200);
}

#[tokio::test]
async fn the_policy_of_an_endpoint_is_a_permission() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let clerk = json!({"name": "Clerk", "permissions": ["sell:shoes"]});
    let detail = admin.post(&world, ROLES, &clerk).await.problem(400);
    assert!(detail.contains("the `policy` of a published endpoint"), "{detail}");
    let root = json!({"type": "Elsa.HttpEndpoint", "id": "in", "canStartWorkflow": true,
        "path": "shoes", "authorize": true, "policy": "sell:shoes"});
    let body = json!({"definitionId": "shoes", "root": root});
    admin.post(&world, "/elsa/api/workflow-definitions", &body).await.expect(201);
    let made = admin.post(&world, ROLES, &clerk).await.expect(200);
    assert_eq!(made["permissions"], json!(["sell:shoes"]));
}

#[tokio::test]
async fn the_last_administrator_stays_one() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let path = format!("{USERS}/{}", id_of(&world, "admin").await);
    let role = format!("{ROLES}/admin");
    let changes = [
        ("DELETE", &path, json!({})),
        ("PUT", &path, json!({"roles": []})),
        ("PUT", &path, json!({"isDisabled": true})),
        ("PUT", &role, json!({"permissions": ["read:*"]})),
    ];
    let eve = json!({"name": "eve", "password": PASSWORD, "roles": ["admin"]});
    let eve = admin.post(&world, USERS, &eve).await.expect(200);
    let eve = format!("{USERS}/{}", eve["id"].as_str().unwrap());
    let disabled = json!({"isDisabled": true});
    world.send(bearer("PUT", &eve, &admin.access, &disabled)).await.expect(200);
    for (method, path, body) in &changes {
        let detail = world.send(bearer(method, path, &admin.access, body)).await.problem(409);
        assert!(detail.contains("the only user who may do everything"), "{detail}");
    }
    let named = json!({"name": "All"});
    world.send(bearer("PUT", &role, &admin.access, &named)).await.expect(200);
    let enabled = json!({"isDisabled": false});
    world.send(bearer("PUT", &eve, &admin.access, &enabled)).await.expect(200);
    let gone = bearer("DELETE", &path, &admin.access, &json!({}));
    assert_eq!(world.send(gone).await.status, 204);
}

#[tokio::test]
async fn the_audit_log_tells_passwords_from_tokens() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    try_login(&world, "admin", "another password").await.expect(200);
    admin.post(&world, USERS, &json!({"name": "eve"})).await.expect(200);
    for (what, expected) in
        [("login", "password"), ("login.refuse", "password"), ("user.create", "token")]
    {
        let path = format!("/elsa/api/audit?who=user:admin&what={what}");
        testkit::eventually(what, crate::tests::world::BOUND, async || {
            let found = admin.get(&world, &path).await.expect(200);
            found["items"][0]["credential"] == expected
        })
        .await;
    }
}

#[tokio::test]
async fn nobody_rises_above_their_own_permissions() {
    let world = world().await;
    let rights = [
        "create:user",
        "update:user",
        "delete:user",
        "create:role",
        "update:role",
        "delete:role",
        "create:application",
        "delete:application",
        "read:user",
    ];
    let clerk = make_user(&world, "zoe", &rights).await;
    let admin_id = id_of(&world, "admin").await;
    let own_id = id_of(&world, "zoe").await;
    let admin_path = format!("{USERS}/{admin_id}");
    let own_path = format!("{USERS}/{own_id}");
    for (method, path, body) in [
        ("POST", USERS, json!({"name": "eve", "roles": ["admin"]})),
        ("PUT", admin_path.as_str(), json!({"password": "taken over now"})),
        ("PUT", admin_path.as_str(), json!({"isDisabled": true})),
        ("DELETE", admin_path.as_str(), json!({})),
        ("PUT", own_path.as_str(), json!({"roles": ["admin"]})),
        ("POST", ROLES, json!({"name": "all", "permissions": ["*"]})),
        ("POST", ROLES, json!({"name": "all", "permissions": ["create:*"]})),
        ("PUT", "/elsa/api/identity/roles/of-zoe", json!({"permissions": ["read:audit"]})),
        ("PUT", "/elsa/api/identity/roles/admin", json!({"permissions": []})),
        ("DELETE", "/elsa/api/identity/roles/admin", json!({})),
        ("POST", APPLICATIONS, json!({"name": "shop", "roles": ["admin"]})),
    ] {
        let answer = world.send(bearer(method, path, &clerk.access, &body)).await;
        let detail = answer.problem(403);
        assert!(detail.contains("does not have"), "{method} {path} {body}: {detail}");
    }
    login(&world, "admin", PASSWORD).await;
    let body = json!({"name": "eve", "roles": ["of-zoe"]});
    clerk.post(&world, USERS, &body).await.expect(200);
}

#[tokio::test]
async fn a_password_is_not_kept_with_an_idempotency_key() {
    let world = world().await;
    let admin = login(&world, "admin", PASSWORD).await;
    let body = json!({"name": "zoe", "password": "given password"});
    let authorization = format!("Bearer {}", admin.access);
    let headers = [("authorization", authorization.as_str()), ("idempotency-key", "k1")];
    let send = async || world.send(json_request("POST", USERS, &headers, &body)).await;
    send().await.expect(200);
    send().await.problem(409);
}

#[tokio::test]
async fn the_first_user_is_made_once_and_never_without_a_password() {
    let world = world().await;
    assert!(!first::make(&world.app).await.unwrap());
    let mut bare = config();
    bare.identity.first = None;
    let world = World::without_executor(bare).await;
    assert!(!first::make(&world.app).await.unwrap());
    for (name, password) in [("admin", "password"), ("admin", "admin"), ("admin", PASSWORD)] {
        let body = try_login(&world, name, password).await.expect(200);
        assert_eq!(body["isAuthenticated"], false);
    }
    let mut weak = config();
    weak.identity.first = Some(("admin".to_owned(), Secret::new("password")));
    let refused = weak.check().unwrap_err().to_string();
    assert!(refused.contains("fewer than 12") && !refused.contains("password\""), "{refused}");
}
