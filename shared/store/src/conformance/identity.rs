//! Users, roles and applications.

use super::case::{Subject, at_once, cases};
use super::sample::at;
use crate::{Application, PeopleChange, PeopleChanged, Role, RoleChange, Store, User, UserChange};

cases![
    a_name_belongs_to_one_user,
    a_user_changes_in_parts,
    of_many_users_with_one_name_one_is_made,
    roles_are_found_by_their_ids,
    applications_are_found_by_their_key,
    a_role_names_its_holders,
    the_last_administrator_stays_one,
    of_two_administrators_who_remove_each_other_one_stays,
];

pub(super) fn user(id: &str, name: &str) -> User {
    User {
        id: id.to_owned(),
        name: name.to_owned(),
        password_hash: "$argon2id$one".to_owned(),
        roles: vec!["reader".to_owned()],
        is_disabled: false,
        generation: 0,
        created_at: at(0),
    }
}

pub(super) fn role(id: &str) -> Role {
    Role {
        id: id.to_owned(),
        name: format!("The role {id}"),
        permissions: vec!["read:*".to_owned(), "exec:workflow-definitions".to_owned()],
        created_at: at(1),
    }
}

fn application(id: &str) -> Application {
    Application {
        id: id.to_owned(),
        name: format!("The program {id}"),
        client_id: format!("client-{id}"),
        key_hash: format!("key-{id}"),
        roles: vec!["reader".to_owned(), "é".to_owned()],
        created_at: at(2),
    }
}

async fn a_name_belongs_to_one_user(store: Subject) {
    assert_eq!(store.users().await.unwrap(), []);
    assert!(store.create_user(&user("1", "zoe")).await.unwrap());
    assert!(store.create_user(&user("2", "adam")).await.unwrap());
    assert!(!store.create_user(&user("3", "zoe")).await.unwrap(), "the name is taken");
    assert!(!store.create_user(&user("1", "eve")).await.unwrap(), "the id is taken");
    assert!(store.create_user(&user("4", "Zoe")).await.unwrap());
    assert!(store.create_user(&user("5", "a\0")).await.is_err());
    let names: Vec<_> = store.users().await.unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["Zoe", "adam", "zoe"]);
    assert_eq!(store.user_named("zoe").await.unwrap(), Some(user("1", "zoe")));
    assert_eq!(store.user_named("eve").await.unwrap(), None);
    assert_eq!(store.user("1").await.unwrap(), Some(user("1", "zoe")));
    assert_eq!(store.user("zoe").await.unwrap(), None);
    assert!(store.delete_user("1").await.unwrap());
    assert_eq!(store.user("1").await.unwrap(), None);
    assert!(!store.delete_user("1").await.unwrap());
    assert!(store.create_user(&user("3", "zoe")).await.unwrap(), "the name is free again");
}

async fn a_user_changes_in_parts(store: Subject) {
    store.create_user(&user("1", "zoe")).await.unwrap();
    let nothing = UserChange::default();
    assert_eq!(store.change_user("1", &nothing).await.unwrap(), Some(user("1", "zoe")));
    assert_eq!(store.change_user("2", &nothing).await.unwrap(), None);
    let password_hash = Some("$argon2id$new".to_owned());
    let change = UserChange { password_hash, ends_sessions: true, ..nothing.clone() };
    let changed = store.change_user("1", &change).await.unwrap().unwrap();
    let expected =
        User { password_hash: "$argon2id$new".to_owned(), generation: 1, ..user("1", "zoe") };
    assert_eq!(changed, expected);
    let roles = vec!["a".to_owned(), "b".to_owned()];
    let change = UserChange {
        roles: Some(roles.clone()),
        is_disabled: Some(true),
        ends_sessions: true,
        ..nothing
    };
    store.change_user("1", &change).await.unwrap();
    let expected = User { roles, is_disabled: true, generation: 2, ..expected };
    assert_eq!(store.user_named("zoe").await.unwrap(), Some(expected));
}

async fn of_many_users_with_one_name_one_is_made(store: Subject) {
    let made = at_once(8, |number| {
        let store = Subject::clone(&store);
        async move { store.create_user(&user(&number.to_string(), "zoe")).await.unwrap() }
    })
    .await;
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
    assert_eq!(store.users().await.unwrap().len(), 1);
}

async fn roles_are_found_by_their_ids(store: Subject) {
    for id in ["writer", "reader"] {
        assert!(store.create_role(&role(id)).await.unwrap());
    }
    let other = Role { permissions: Vec::new(), ..role("reader") };
    assert!(!store.create_role(&other).await.unwrap());
    assert_eq!(store.roles().await.unwrap(), [role("reader"), role("writer")]);
    let ids = ["writer", "reader", "unknown"].map(str::to_owned);
    assert_eq!(store.roles_of(&ids).await.unwrap(), [role("reader"), role("writer")]);
    assert_eq!(store.roles_of(&ids[..1]).await.unwrap(), [role("writer")]);
    assert_eq!(store.roles_of(&[]).await.unwrap(), []);
    let change = RoleChange { name: None, permissions: Some(vec!["*".to_owned()]) };
    let changed = store.change_role("reader", &change).await.unwrap();
    let expected = Role { permissions: vec!["*".to_owned()], ..role("reader") };
    assert_eq!(changed, Some(expected.clone()));
    let change = RoleChange { name: Some("New".to_owned()), permissions: None };
    store.change_role("reader", &change).await.unwrap();
    assert_eq!(store.change_role("unknown", &change).await.unwrap(), None);
    let expected = Role { name: "New".to_owned(), ..expected };
    assert_eq!(store.roles_of(&ids[1..]).await.unwrap(), [expected]);
    assert!(store.delete_role("reader").await.unwrap());
    assert!(!store.delete_role("reader").await.unwrap());
}

async fn applications_are_found_by_their_key(store: Subject) {
    for id in ["b", "a"] {
        assert!(store.create_application(&application(id)).await.unwrap());
    }
    let same_name = Application { name: "The program a".to_owned(), ..application("c") };
    let same_client = Application { client_id: "client-a".to_owned(), ..application("c") };
    for refused in [application("a"), same_name, same_client] {
        assert!(!store.create_application(&refused).await.unwrap(), "{refused:?}");
    }
    assert_eq!(store.applications().await.unwrap(), [application("a"), application("b")]);
    let found = store.application_with_key("key-b").await.unwrap();
    assert_eq!(found, Some(application("b")));
    assert_eq!(store.application_with_key("key-c").await.unwrap(), None);
    assert!(store.delete_application("b").await.unwrap());
    assert!(!store.delete_application("b").await.unwrap());
    assert_eq!(store.application_with_key("key-b").await.unwrap(), None);
}

async fn a_role_names_its_holders(store: Subject) {
    store.create_user(&user("1", "zoe")).await.unwrap();
    store.create_application(&application("a")).await.unwrap();
    assert_eq!(store.role_holders("reader").await.unwrap(), ["zoe", "The program a"]);
    assert_eq!(store.role_holders("é").await.unwrap(), ["The program a"]);
    assert_eq!(store.role_holders("read").await.unwrap(), Vec::<String>::new());
}

/// A role with all permissions, and these users who have it.
async fn administrators(store: &dyn Store, names: &[&str]) {
    let all = Role { permissions: vec!["*".to_owned()], ..role("admin") };
    assert!(store.create_role(&all).await.unwrap());
    for name in names {
        let admin = User { roles: vec!["admin".to_owned()], ..user(name, name) };
        assert!(store.create_user(&admin).await.unwrap());
    }
}

async fn the_last_administrator_stays_one(store: Subject) {
    let id = |id: &str| id.to_owned();
    let disabled = UserChange { is_disabled: Some(true), ..UserChange::default() };
    let reader = UserChange { roles: Some(vec![id("reader")]), ..UserChange::default() };
    let less = RoleChange { permissions: Some(vec![id("read:*")]), ..RoleChange::default() };
    // Nothing is taken away where nobody is one.
    store.create_user(&user("reader", "reader")).await.unwrap();
    let gone = store.change_people(&PeopleChange::NoUser(id("reader"))).await.unwrap();
    assert_eq!(gone, PeopleChanged::NoUser);
    let unknown = store.change_people(&PeopleChange::NoUser(id("reader"))).await.unwrap();
    assert_eq!(unknown, PeopleChanged::Unknown);
    administrators(&*store, &["zoe", "adam"]).await;
    let changed = store.change_people(&PeopleChange::User(id("adam"), disabled.clone())).await;
    match changed.unwrap() {
        PeopleChanged::User(adam) => assert!(adam.is_disabled && adam.roles == ["admin"]),
        other => panic!("{other:?}"),
    }
    let before = (store.users().await.unwrap(), store.roles().await.unwrap());
    for change in [
        PeopleChange::User(id("zoe"), disabled),
        PeopleChange::User(id("zoe"), reader.clone()),
        PeopleChange::NoUser(id("zoe")),
        PeopleChange::Role(id("admin"), less.clone()),
    ] {
        let refused = store.change_people(&change).await.unwrap();
        assert_eq!(refused, PeopleChanged::LastAdministrator, "{change:?}");
    }
    assert_eq!((store.users().await.unwrap(), store.roles().await.unwrap()), before);
    let enabled = UserChange { is_disabled: Some(false), ..UserChange::default() };
    store.change_people(&PeopleChange::User(id("adam"), enabled)).await.unwrap();
    let changed = store.change_people(&PeopleChange::User(id("zoe"), reader)).await.unwrap();
    assert!(matches!(changed, PeopleChanged::User(zoe) if zoe.roles == ["reader"]));
    let renamed = RoleChange { name: Some(id("All")), permissions: None };
    let changed = store.change_people(&PeopleChange::Role(id("admin"), renamed)).await.unwrap();
    assert!(matches!(changed, PeopleChanged::Role(role) if role.name == "All"));
}

async fn of_two_administrators_who_remove_each_other_one_stays(store: Subject) {
    administrators(&*store, &["0", "1"]).await;
    let changed = at_once(2, |number| {
        let store = Subject::clone(&store);
        let other = PeopleChange::NoUser((1 - number).to_string());
        async move { store.change_people(&other).await.unwrap() }
    })
    .await;
    let refused = changed.iter().filter(|one| **one == PeopleChanged::LastAdministrator).count();
    assert_eq!(refused, 1, "{changed:?}");
    assert_eq!(store.users().await.unwrap().len(), 1);
}
