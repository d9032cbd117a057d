//! A user of PostgreSQL who may not log in, or lacks a right, is told from a server that is away.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use sea_orm::sqlx::{self, Connection as _, PgConnection};
use store::conformance::first;
use store::{Error, Instances as _};
use store_sql::{Options, connect, migrate, pending_migrations};

#[track_caller]
fn is_denied<T>(result: Result<T, Error>, what: &str) {
    let error = result.map(drop).unwrap_err();
    assert!(matches!(error, Error::Denied(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains(what) && text.contains("database-url"), "{text}");
    // The driver adds the line of PostgreSQL's own source.
    assert!(!text.contains("at line"), "{text}");
}

#[tokio::test]
async fn a_user_of_postgres_without_rights_is_denied_access() {
    let Some(server) = testkit::own_postgres(false).await else { return };
    server.create("flow").await.unwrap();
    server.create("empty").await.unwrap();
    server.run("CREATE ROLE weak LOGIN").await.unwrap();
    server.run("CREATE ROLE shut NOLOGIN").await.unwrap();
    let of = |role: &str, name: &str| server.url(name).replace("postgres@", &format!("{role}@"));
    let as_owner = async |name: &str, statement: &'static str| {
        let mut owner = PgConnection::connect(&server.url(name)).await.unwrap();
        sqlx::raw_sql(statement).execute(&mut owner).await.unwrap();
        owner.close().await.unwrap();
    };

    // It may not log in.
    is_denied(pending_migrations(&of("shut", "flow")).await, "not permitted to log in");
    is_denied(connect(&of("nobody", "flow"), Options::default()).await, "does not exist");

    // It may not make a table.
    as_owner("empty", "REVOKE CREATE ON SCHEMA public FROM PUBLIC").await;
    is_denied(migrate(&of("weak", "empty")).await, "permission denied");

    // It may not read.
    migrate(&server.url("flow")).await.unwrap();
    is_denied(pending_migrations(&of("weak", "flow")).await, "permission denied");
    is_denied(connect(&of("weak", "flow"), Options::default()).await, "permission denied");

    // It may not write.
    as_owner("flow", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO weak").await;
    let store = connect(&of("weak", "flow"), Options::default()).await.unwrap();
    is_denied(store.commit(first("i")).await, "permission denied");
    store::Store::close(&store).await;

    // A database that is not there is no question of rights.
    for gone in [
        connect(&of("postgres", "gone"), Options::default()).await.map(drop),
        pending_migrations(&of("postgres", "gone")).await.map(drop),
    ] {
        let Err(Error::Absent(text)) = &gone else { panic!("there is no such database: {gone:?}") };
        assert!(
            text.ends_with("create the database, or name another one in database-url"),
            "{text}"
        );
    }
}
