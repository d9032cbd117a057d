import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { id, post } from "../../api/client";
import type { Api } from "../../api/types";
import { useAddress } from "../../app/address";
import { t } from "../../text";
import { Button, buttonClass } from "../../ui/Button";
import { attempt } from "../../ui/notices";
import { Cancel } from "./Cancel";
import { Migrate } from "./Migrate";
import type { Offer } from "./offers";
import { Restart } from "./Restart";
import { retry } from "./retrying";

/** Does what is offered, in place of a line for a terminal. */
export function OfferButton({ offer, detail }: { offer: Offer; detail: Api["InstanceDetail"] }) {
  const client = useQueryClient();
  const [, change] = useAddress();
  const [isAsking, setAsking] = useState(false);
  const path = `/workflow-instances/${id(detail.id)}`;
  const reload = () => void client.invalidateQueries({ queryKey: ["instance", detail.id] });
  const close = () => setAsking(false);
  if (offer.is === "instance") {
    return (
      <Link to="/instances/$id" params={{ id: offer.id }} className={buttonClass()}>
        {t.instance.openInstance}
      </Link>
    );
  }
  if (offer.is === "tab") {
    return (
      <Button onClick={() => change({ tab: offer.tab, at: undefined })}>
        {offer.tab === "values" ? t.instance.changeValues : t.instance.toWaits}
      </Button>
    );
  }
  const act = async () => {
    if (offer.is === "retry") await attempt(() => retry(detail.id), String);
    else if (offer.is === "unpause")
      await attempt(() => post(`${path}/alter`, { alterations: [{ type: "Unpause" }] }), t.instance.goesOn);
    else return setAsking(true);
    reload();
  };
  return (
    <>
      <Button onClick={() => void act()}>{t.deeds[offer.is]}</Button>
      {isAsking && offer.is === "restart" && <Restart detail={detail} onClose={close} />}
      {isAsking && offer.is === "migrate" && <Migrate detail={detail} onClose={close} onDone={reload} />}
      {isAsking && offer.is === "cancel" && <Cancel of={detail.id} onClose={close} onDone={reload} />}
    </>
  );
}
