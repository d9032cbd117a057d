use super::*;

#[test]
fn both_mounts_need_the_same() {
    for mount in MOUNTS {
        let need = of(&Method::GET, &format!("{mount}/workflow-instances/{{id}}"));
        assert_eq!(need, P("read:workflow-instances"));
    }
    assert_eq!(of(&Method::GET, "/workflows/{*path}"), Public);
    assert_eq!(of(&Method::GET, "/workflowsX"), Unlisted);
    assert_eq!(of(&Method::PATCH, "/api/workflow-instances"), Unlisted);
}

#[test]
fn the_hub_is_found_where_clients_look_for_it_and_nowhere_else() {
    for mount in ["/elsa", "", "/elsa/api", "/api"] {
        let hub = format!("{mount}/hubs/workflow-instance");
        assert_eq!(of(&Method::GET, &hub), HUB, "{hub}");
        assert_eq!(of(&Method::POST, &format!("{hub}/negotiate")), NEGOTIATION, "{hub}");
        assert_eq!(of(&Method::DELETE, &hub), Unlisted, "{hub}");
        assert!(is_hub(&hub), "{hub}");
    }
    for other in [
        "/x/hubs/workflow-instance",
        "/hubs/other",
        "/elsa/api/workflow-instances/{id}/events",
        "/workflows/{*path}",
        "/workflows/hubs/workflow-instance",
        "",
    ] {
        assert!(!is_hub(other), "{other}");
    }
}

#[test]
fn a_path_is_the_same_under_both_mounts() {
    assert_eq!(unmounted("/elsa/api/x"), "/x");
    assert_eq!(unmounted("/api/x"), "/x");
    assert_eq!(unmounted("/apix"), "/apix");
}
