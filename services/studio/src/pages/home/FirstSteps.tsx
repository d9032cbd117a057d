import { Link } from "@tanstack/react-router";
import { ORIGIN } from "../../api/base";
import { t } from "../../text";
import { buttonClass } from "../../ui/Button";
import { Code } from "../../ui/Code";
import { Card } from "../../ui/Panel";
import { Example } from "./Example";

/** What one can do when nothing is there yet. */
export function FirstSteps() {
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,16rem),1fr))] gap-4">
      <Example />
      <Card title={t.home.importTitle}>
        <div className="space-y-3 p-4 text-sm">
          <p>{t.home.importText}</p>
          <Link to="/definitions" className={buttonClass("main")}>
            {t.definitions.import}
          </Link>
        </div>
      </Card>
      <Card title={t.home.drawTitle}>
        <div className="space-y-3 p-4 text-sm">
          <p>{t.home.drawText}</p>
          <Link to="/definitions/new" className={buttonClass("main")}>
            {t.definitions.draw}
          </Link>
        </div>
      </Card>
      <Card title={t.home.terminalTitle}>
        <div className="space-y-3 p-4 text-sm">
          <p>{t.home.terminalText}</p>
          <Code
            label={t.home.terminalTitle}
            text={`echo '[{type: WriteLine, text: Hello}]' > hello.yaml\nstaunch apply -f hello.yaml --server ${ORIGIN}\nstaunch run hello --server ${ORIGIN}`}
          />
        </div>
      </Card>
    </div>
  );
}
