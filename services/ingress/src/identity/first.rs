//! The first user, made at the start if there is none. There is no default password.

use serde_json::json;
use store::{Role, User};

use crate::auth::caller::Caller;
use crate::{App, Problem};

/// The id of the role with all permissions.
const ADMINISTRATOR: &str = "admin";

/// Makes the configured first user, while there is no user at all. A failure is logged.
pub(crate) async fn at_start(app: &App) {
    if app.config.auth.identity
        && let Err(problem) = make(app).await
    {
        tracing::error!(problem = problem.detail(), "the first user could not be made");
    }
}

/// Makes the first user; false if there is one, or none is configured.
pub(crate) async fn make(app: &App) -> Result<bool, Problem> {
    if !app.cx.store.users().await?.is_empty() {
        return Ok(false);
    }
    let Some((name, password)) = &app.config.identity.first else {
        tracing::warn!(
            "there are no users: make one with `staunch user create`, or set STAUNCH_ADMIN_NAME \
             and STAUNCH_ADMIN_PASSWORD"
        );
        return Ok(false);
    };
    let role = Role {
        id: ADMINISTRATOR.to_owned(),
        name: "Administrator".to_owned(),
        permissions: vec!["*".to_owned()],
        created_at: app.now(),
    };
    // One that exists stays as it is: an operator may have made it.
    app.cx.store.create_role(&role).await?;
    let user = User {
        id: app.fresh_id(),
        name: name.clone(),
        password_hash: app.identity.hashing.hash(password.expose(), app.cx.chance.seed()).await?,
        roles: vec![role.id],
        is_disabled: false,
        generation: 0,
        created_at: app.now(),
    };
    let is_made = app.cx.store.create_user(&user).await?;
    if is_made {
        let details = json!({"name": user.name, "roles": user.roles});
        app.audit(&Caller::of_start(), "user.create", &user.id, details).await;
    }
    Ok(is_made)
}
