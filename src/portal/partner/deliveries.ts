import { Refused, take, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { readApp, showAppPage } from "./place.ts";
import { endpointAddress, readEndpoint } from "./webhooks.ts";

const delivery = "/admin/v1/webhook-deliveries/{deliveryId}";

const pathOf = ({ part }: Visit) => ({ deliveryId: part("deliveryId") });

/** Errors: Refused webhook_delivery_not_found for a delivery of another endpoint. */
async function readDelivery(visit: Visit) {
  const found = await take(visit.api.GET(delivery, { params: { path: pathOf(visit) } }));
  if (found.delivery.endpointId !== visit.part("endpointId"))
    throw new Refused(404, { code: "webhook_delivery_not_found" });
  return found;
}

/** A delivery with its body and every attempt. */
export async function showDelivery(visit: Visit): Promise<Shown> {
  const [app, { record }, found] = await Promise.all([readApp(visit), readEndpoint(visit), readDelivery(visit)]);
  const here = endpointAddress(visit);
  const model = { endpoint: record, ...found, here, body: indent(found.delivery.body) };
  return showAppPage(visit, { app, page: "webhooks", view: "delivery", title: visit.t("delivery.title"), model });
}

/** The body to be read. Shape: as it is where it is no JSON. */
function indent(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

export async function redeliver(visit: Visit): Promise<Gone> {
  await Promise.all([readEndpoint(visit), readDelivery(visit)]);
  const call = visit.api.POST(`${delivery}/redelivery`, { params: { path: pathOf(visit) } });
  await take(call).catch((error: unknown) => {
    // The same form came twice: it waits already.
    if (!(error instanceof Refused) || error.code !== "webhook_delivery_pending") throw error;
  });
  return { to: `${endpointAddress(visit)}/deliveries/${visit.part("deliveryId")}`, done: "redelivered" };
}
