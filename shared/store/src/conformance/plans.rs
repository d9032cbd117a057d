//! Plans that alter many instances, and their jobs.

use model::{Alteration, InstanceId};
use serde_json::json;

use super::case::{Subject, at_once, cases};
use super::sample::at;
use crate::{AlterationPlan, JobStatus, Page, PlanStatus, Progress};

cases![
    a_plan_is_kept_once,
    the_oldest_plan_has_one_owner_at_a_time,
    jobs_are_added_once_and_end_once,
];

fn plan(id: &str, created: i64) -> AlterationPlan {
    AlterationPlan {
        id: id.to_owned(),
        alterations: vec![
            Alteration::migrate(2),
            Alteration::ModifyVariable { variable_id: "v".to_owned(), value: json!({"a": [1.5]}) },
        ],
        filter: json!({"definitionIds": ["d"]}),
        submitted_by: "somebody".to_owned(),
        status: PlanStatus::Pending,
        cursor: None,
        created_at: at(created),
        started_at: None,
        completed_at: None,
    }
}

async fn a_plan_is_kept_once(store: Subject) {
    assert!(store.submit_plan(&plan("p", 1)).await.unwrap());
    assert!(!store.submit_plan(&plan("p", 2)).await.unwrap());
    assert_eq!(store.plan("p").await.unwrap(), Some(plan("p", 1)));
    assert_eq!(store.plan("q").await.unwrap(), None);
}

async fn the_oldest_plan_has_one_owner_at_a_time(store: Subject) {
    assert_eq!(store.claim_plan("a", at(0), at(10)).await.unwrap(), None);
    store.submit_plan(&plan("late", 2)).await.unwrap();
    store.submit_plan(&plan("early", 1)).await.unwrap();
    let claims = at_once(8, |number| {
        let store = std::sync::Arc::clone(&store);
        async move { store.claim_plan(&format!("n{number}"), at(0), at(10)).await.unwrap() }
    })
    .await;
    let of = |id: &str| claims.iter().flatten().filter(|plan| plan.id == id).count();
    assert_eq!((of("early"), of("late")), (1, 1));
    assert_eq!(store.claim_plan("x", at(9), at(20)).await.unwrap(), None);
    let claimed = store.claim_plan("x", at(10), at(20)).await.unwrap().unwrap();
    assert_eq!(claimed.id, "early");
    let again = store.claim_plan("x", at(11), at(30)).await.unwrap().unwrap();
    assert_eq!(again.id, "early");
    store.end_plan("early", PlanStatus::Completed, at(12)).await.unwrap();
    store.end_plan("early", PlanStatus::Failed, at(13)).await.unwrap();
    let ended = store.plan("early").await.unwrap().unwrap();
    assert_eq!((ended.status, ended.completed_at), (PlanStatus::Completed, Some(at(12))));
    assert_eq!(store.claim_plan("x", at(12), at(20)).await.unwrap().unwrap().id, "late");
}

async fn jobs_are_added_once_and_end_once(store: Subject) {
    let ids: Vec<InstanceId> = ["i1", "i2", "i3"].into_iter().map(Into::into).collect();
    store.submit_plan(&plan("p", 1)).await.unwrap();
    store.submit_plan(&plan("q", 1)).await.unwrap();
    let generating = PlanStatus::Generating;
    store.add_jobs("p", &ids[..2], generating, Some("i2".to_owned()), at(2)).await.unwrap();
    store.add_jobs("p", &ids, PlanStatus::Running, None, at(3)).await.unwrap();
    store.add_jobs("q", &ids[..1], PlanStatus::Running, None, at(3)).await.unwrap();
    let kept = store.plan("p").await.unwrap().unwrap();
    assert_eq!((kept.status, kept.cursor), (PlanStatus::Running, None));
    assert_eq!(kept.started_at, Some(at(2)));
    assert_eq!(store.begin_jobs("p", None, 2, at(4)).await.unwrap(), ids[..2]);
    assert_eq!(store.begin_jobs("p", Some(&ids[1]), 2, at(5)).await.unwrap(), ids[2..]);
    assert_eq!(store.begin_jobs("p", Some(&ids[2]), 2, at(5)).await.unwrap(), []);
    store.end_job("p", &ids[0], JobStatus::Completed, None, at(6)).await.unwrap();
    let why = Some("it does not fit".to_owned());
    store.end_job("p", &ids[1], JobStatus::Failed, why.clone(), at(6)).await.unwrap();
    store.end_job("p", &ids[1], JobStatus::Completed, None, at(7)).await.unwrap();
    assert_eq!(store.begin_jobs("p", None, 9, at(8)).await.unwrap(), ids[2..]);
    let progress = Progress { pending: 0, running: 1, completed: 1, failed: 1 };
    assert_eq!(store.progress("p").await.unwrap(), progress);
    let listed = store.jobs("p", None, Page::new(1, 1)).await.unwrap();
    assert_eq!(listed.total, 3);
    let [failed] = listed.items.as_slice() else { panic!("{listed:?}") };
    assert_eq!((&failed.instance_id, failed.status), (&ids[1], JobStatus::Failed));
    assert_eq!((&failed.message, failed.started_at), (&why, Some(at(4))));
    assert_eq!(failed.completed_at, Some(at(6)));
    assert_eq!(store.progress("q").await.unwrap().pending, 1);
    let of = async |status: JobStatus, page: Page| {
        let listed = store.jobs("p", Some(status), page).await.unwrap();
        let ids: Vec<_> = listed.items.into_iter().map(|job| job.instance_id).collect();
        (ids, listed.total)
    };
    assert_eq!(of(JobStatus::Failed, Page::first()).await, (ids[1..2].to_vec(), 1));
    assert_eq!(of(JobStatus::Completed, Page::first()).await, (ids[..1].to_vec(), 1));
    assert_eq!(of(JobStatus::Failed, Page::new(1, 1)).await, (vec![], 1), "the total is of all");
    assert_eq!(of(JobStatus::Pending, Page::first()).await, (vec![], 0));
}
