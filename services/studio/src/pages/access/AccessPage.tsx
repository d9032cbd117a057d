import { can } from "../../api/session";
import { useAddress } from "../../app/address";
import { t } from "../../text";
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
    { key: "users", word: t.access.users, needs: "read:user" },
    { key: "roles", word: t.access.roles, needs: "read:role" },
    { key: "applications", word: t.access.applications, needs: "read:application" },
    { key: "keys", word: t.access.keys, needs: "read:api-keys" },
    { key: "audit", word: t.access.audit, needs: "read:audit" },
  ];
  const tabs = all.filter(({ needs }) => can(needs));
  const tab = tabs.find(({ key }) => key === search.tab)?.key ?? tabs[0]?.key ?? "";
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
    </Page>
  );
}
