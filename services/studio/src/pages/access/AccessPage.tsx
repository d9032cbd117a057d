import { can } from "../../api/session";
import { useAddress } from "../../app/address";
import { reads } from "../../lib/shell";
import { t } from "../../text";
import { CopyCommands } from "../../ui/Code";
import { Page } from "../../ui/Page";
import { Card } from "../../ui/Panel";
import { Tabs } from "../../ui/Tabs";
import { Applications } from "./Applications";
import { Audit } from "./Audit";
import { Keys } from "./Keys";
import { Roles } from "./Roles";
import { Users } from "./Users";

/** Who may do what, and who did what. */
export function AccessPage() {
  const [search, change] = useAddress();
  const all = [
    { key: "users", word: t.access.users, needs: "read:user", path: "/identity/users", list: "user ls" },
    { key: "roles", word: t.access.roles, needs: "read:role", path: "/identity/roles", list: "role ls" },
    {
      key: "applications",
      word: t.access.applications,
      needs: "read:application",
      path: "/identity/applications",
      list: "app ls",
    },
    { key: "keys", word: t.access.keys, needs: "read:api-keys", path: "/api-keys", list: "key ls" },
    { key: "audit", word: t.access.audit, needs: "read:audit" },
  ];
  const tabs = all.filter(({ needs }) => can(needs));
  const shown = tabs.find(({ key }) => key === search.tab) ?? tabs[0];
  const tab = shown?.key ?? "";
  return (
    <Page title={t.rail.access}>
      <Card>
        <Tabs
          label={t.rail.access}
          tabs={tabs}
          current={tab}
          onChange={(next) => change({ tab: next, page: undefined })}
        >
          {tab === "users" && <Users />}
          {tab === "roles" && <Roles />}
          {tab === "applications" && <Applications />}
          {tab === "keys" && <Keys />}
          {tab === "audit" && <Audit />}
        </Tabs>
      </Card>
      {shown?.path && <CopyCommands commands={{ staunch: `staunch ${shown.list}`, ...reads(shown.path) }} />}
    </Page>
  );
}
