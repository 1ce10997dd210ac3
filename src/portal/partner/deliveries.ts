import { Refused, unwrap, type Redirect, type PageView, type PageRequest } from "../frame/index.ts";
import { showAppPage } from "./app-page.ts";
import { endpointAddress, readEndpoint } from "./webhooks.ts";

const delivery = "/admin/v1/webhook-deliveries/{deliveryId}";

/** Errors: Refused webhook_delivery_not_found for a delivery of another endpoint. */
async function readDelivery({ api, path }: PageRequest) {
  const found = await unwrap(api.GET(delivery, { params: { path } }));
  if (found.delivery.endpointId !== path.endpointId) throw new Refused(404, { code: "webhook_delivery_not_found" });
  return found;
}

export async function showDelivery(request: PageRequest): Promise<PageView> {
  const [{ record }, found] = await Promise.all([readEndpoint(request), readDelivery(request)]);
  const here = endpointAddress(request);
  const model = { endpoint: record, ...found, here, body: indentJson(found.delivery.body) };
  return showAppPage(request, { page: "webhooks", view: "delivery", title: request.t("delivery.title"), model });
}

/** Other texts stay as they are. */
export function indentJson(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

export async function redeliver(request: PageRequest): Promise<Redirect> {
  await Promise.all([readEndpoint(request), readDelivery(request)]);
  const call = request.api.POST(`${delivery}/redelivery`, { params: { path: request.path } });
  await unwrap(call).catch((error: unknown) => {
    // The form was sent twice: the delivery already waits.
    if (!(error instanceof Refused) || error.code !== "webhook_delivery_pending") throw error;
  });
  return { to: `${endpointAddress(request)}/deliveries/${request.path.deliveryId}`, done: "redelivered" };
}
