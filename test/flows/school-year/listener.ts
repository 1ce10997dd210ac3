import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { verifyWebhook, WebhookError, type Sync } from "../../../clients/typescript/src/index.ts";
import type { Clock } from "../../../src/platform/clock.ts";

/** The receiver of an app: checks the signature, keeps the event, confirms; the work comes after. */
export function makeListener({ sync, secret, clock }: { sync: Sync; secret: string; clock: Clock }): RequestListener {
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await sync.receive(await verifyWebhook(await buffer(request), request.headers, secret, { now: clock() }));
    response.writeHead(204).end();
  }
  return (request, response) =>
    void receive(request, response).catch((error: unknown) => {
      if (error instanceof WebhookError) response.writeHead(401).end();
      else response.destroy();
    });
}
