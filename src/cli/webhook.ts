import {
  disableEndpoint,
  eventTypes,
  getDelivery,
  getEndpoint,
  listDeliveries,
  listEndpoints,
  pauseEndpoint,
  redeliver,
  redeliverFailed,
  registerEndpoint,
  removeEndpoint,
  resumeEndpoint,
  rotateEndpointSecret,
  sendTestEvent,
  updateEndpoint,
} from "../webhooks/index.ts";
import type { Attempt, Delivery, Endpoint } from "../webhooks/index.ts";
import type { Origin } from "../events/index.ts";
import type { OpenDb } from "../platform/database/db.ts";
import { inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { debugSignature } from "./debug-signature.ts";
import { done, alignColumns, counted, defaultLimit, recordLines, timeOf, wholeList, type Columns } from "./lines.ts";
import { argument, option, required } from "./option.ts";
import { policyOf, withPolicyHint } from "./outbound-policy.ts";
import * as far from "./remote/endpoint.ts";
import type { Remote } from "./admin-api.ts";

const endpoint = { endpoint: argument.endpoint() };
const delivery = { delivery: argument.text() };
const app = { app: argument.text() };
const defaultOverlapHours = 24;

const secretLines = (secret: string): string[] => [`Secret: ${secret}`, "The secret is not shown again."];

function endpointLines({ id, clientId, url, eventTypes: types, ...of }: Endpoint): string[] {
  const state =
    of.reason === null ? of.state.toLowerCase() : `${of.state.toLowerCase()}: ${of.reason.replace("_", " ")}`;
  return recordLines({
    id,
    app: clientId,
    url,
    types: types.join(", "),
    state,
    "tried again at": timeOf(of.resumeAt),
    "failing since": timeOf(of.failingSince),
    "listens until": timeOf(of.listensUntil),
    waiting: String(of.pending),
  });
}

const endpointColumns: Columns<Endpoint> = {
  id: ({ id }) => id,
  app: ({ clientId }) => clientId,
  state: ({ state }) => state,
  reason: ({ reason }) => reason,
  types: ({ eventTypes: types }) => types.join(","),
  url: ({ url }) => url,
};

const deliveryColumns: Columns<Delivery> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  type: ({ eventType }) => eventType,
  "webhook-id": ({ messageId }) => messageId,
  attempts: ({ attempts }) => String(attempts),
  created: ({ createdAt }) => createdAt.toISOString(),
  "next attempt": ({ nextAttemptAt }) => timeOf(nextAttemptAt),
};

const attemptColumns = ({ number, at, durationMs, status, error, answer }: Attempt): string[] => [
  String(number),
  at.toISOString(),
  `${durationMs} ms`,
  status === null ? (error ?? "") : String(status),
  JSON.stringify((answer ?? "").slice(0, 80)),
];

/** A change of one endpoint whose result is one line. */
const simple = (
  { summary, line, irreversible }: { summary: string; line: string; irreversible?: string },
  change: (db: OpenDb, id: string, origin: Origin) => Promise<void>,
  remotely: (remote: Remote, id: string) => Promise<void>,
) =>
  makeCommand({
    summary,
    takes: endpoint,
    ...(irreversible !== undefined && { irreversible }),
    run: async (tools, { given }): Promise<Result> => {
      await inDatabase(tools, (_db, whole) => change(whole, given.endpoint, tools.origin()));
      return done(line, { id: given.endpoint });
    },
    remote: async (remote, { given }) => {
      await remotely(remote, given.endpoint);
      return done(line, { id: given.endpoint });
    },
  });

const show = (shown: Endpoint): Result => ({ lines: endpointLines(shown), quiet: [shown.id], data: shown });

const showAll = (endpoints: readonly Endpoint[]): Result =>
  wholeList("endpoints", endpoints, { columns: endpointColumns, id: ({ id }) => id });

const registered = (made: { id: string; secret: string }): Result => ({
  lines: [`Endpoint: ${made.id}`, ...secretLines(made.secret)],
  quiet: [made.id, made.secret],
  data: made,
});

const rotatedSecret = (id: string, rotated: { secret: string; oldValidUntil: Date }): Result => ({
  lines: [...secretLines(rotated.secret), `The old one is valid until ${rotated.oldValidUntil.toISOString()}.`],
  quiet: [rotated.secret],
  data: { id, ...rotated },
});

const showLog = (deliveries: readonly Delivery[]): Result =>
  wholeList("deliveries", deliveries, { columns: deliveryColumns, id: ({ id }) => id });

const showDelivery = (shown: Delivery & { log: Attempt[] }): Result => {
  const { id, messageId, endpointId, state, body, log } = shown;
  const lines = recordLines({ id, "webhook-id": messageId, endpoint: endpointId, state, body });
  return { lines: [...lines, ...alignColumns(log.map(attemptColumns))], data: shown };
};

const queuedAgain = (id: string, deliveries: number): Result =>
  done(`${counted(deliveries, "delivery", "deliveries")} queued again.`, { id, deliveries });

const testQueued = (id: string, delivery: string): Result => done(`Delivery ${delivery} queued.`, { id, delivery });

const typeOption = option.someOf(eventTypes, "Event types to send; all three if left out.");

export const webhook: Noun = {
  verbs: {
    list: makeCommand({
      summary: "List endpoints with their state.",
      options: { app: option.text("Only those of this app.", "client-id") },
      run: async (tools, { options }) => {
        const endpoints = await inDatabase(tools, (_db, db) => listEndpoints(db, { clientId: options.app }));
        return showAll(endpoints);
      },
      remote: async (remote, { options }) => showAll(await far.listEndpoints(remote, options.app)),
    }),
    show: makeCommand({
      summary: "Show an endpoint: its state, the reason, and how many deliveries wait.",
      takes: endpoint,
      run: async (tools, { given }) => {
        return show(await inDatabase(tools, (_db, db) => getEndpoint(db, given.endpoint)));
      },
      remote: async (remote, { given }) => show(await far.getEndpoint(remote, given.endpoint)),
    }),
    add: makeCommand({
      summary: "Register an address that is notified of changes. Its secret is shown only once.",
      takes: app,
      options: {
        url: required(option.text("Where requests are sent; https, at a public address.", "url")),
        type: typeOption,
      },
      run: async (tools, { given, options: { url, type = [...eventTypes] } }) => {
        const { encryptionKeys: keys } = tools.config;
        const made = await withPolicyHint(
          inDatabase(tools, (_db, whole) =>
            registerEndpoint(
              whole,
              { clientId: given.app, url, eventTypes: type },
              { origin: tools.origin(), keys, policy: policyOf(tools) },
            ),
          ),
        );
        return registered(made);
      },
      remote: async (remote, { given, options: { url, type = [...eventTypes] } }) =>
        registered(await far.registerEndpoint(remote, { clientId: given.app, url, eventTypes: type })),
    }),
    update: makeCommand({
      summary: "Change address or event types. Waiting deliveries go to the new address.",
      takes: endpoint,
      options: {
        url: option.text("Where requests are sent from now on.", "url"),
        type: option.someOf(eventTypes, "Event types to send; replaces the present ones."),
      },
      run: async (tools, { given, options: { url, type } }) => {
        const update = { id: given.endpoint, url, eventTypes: type };
        await withPolicyHint(
          inDatabase(tools, (_db, whole) =>
            updateEndpoint(whole, update, { origin: tools.origin(), policy: policyOf(tools) }),
          ),
        );
        return done("Endpoint updated.", { id: given.endpoint });
      },
      remote: async (remote, { given, options: { url, type } }) => {
        await far.updateEndpoint(remote, given.endpoint, { url, eventTypes: type });
        return done("Endpoint updated.", { id: given.endpoint });
      },
    }),
    "rotate-secret": makeCommand({
      summary: "Give an endpoint a new secret, which is shown only once. The old one stays valid for the overlap.",
      takes: endpoint,
      options: {
        overlapHours: option.count(
          `Hours for which both are valid; ${defaultOverlapHours} if left out, 0 for a secret that leaked.`,
        ),
      },
      run: async (tools, { given, options: { overlapHours = defaultOverlapHours } }) => {
        const { encryptionKeys: keys } = tools.config;
        const rotated = await inDatabase(tools, (_db, whole) =>
          rotateEndpointSecret(whole, { id: given.endpoint, overlapHours }, { origin: tools.origin(), keys }),
        );
        return rotatedSecret(given.endpoint, rotated);
      },
      remote: async (remote, { given, options: { overlapHours = defaultOverlapHours } }) =>
        rotatedSecret(given.endpoint, await far.rotateSecret(remote, given.endpoint, overlapHours)),
    }),
    pause: simple(
      { summary: "Let events wait until the endpoint is resumed.", line: "Endpoint paused." },
      pauseEndpoint,
      far.pauseEndpoint,
    ),
    resume: simple(
      { summary: "Make a paused or disabled endpoint active. Waiting events are delivered.", line: "Endpoint active." },
      resumeEndpoint,
      far.resumeEndpoint,
    ),
    disable: simple(
      {
        summary: "Drop waiting and new events until the endpoint is resumed.",
        line: "Endpoint disabled.",
        irreversible: "This drops the events that wait for the endpoint.",
      },
      disableEndpoint,
      far.disableEndpoint,
    ),
    remove: simple(
      {
        summary: "Delete an endpoint.",
        line: "Endpoint deleted.",
        irreversible: "This deletes the endpoint with its secrets and its log.",
      },
      removeEndpoint,
      far.removeEndpoint,
    ),
    log: makeCommand({
      summary: "List the deliveries of an endpoint, the newest first. They are kept for WEBHOOK_LOG_DAYS.",
      takes: endpoint,
      options: {
        state: option.oneOf(["PENDING", "DELIVERED", "FAILED"] as const, "Only those in this state."),
        limit: option.count(`How many at most; ${defaultLimit} if left out.`),
      },
      run: async (tools, { given, options: { state, limit = defaultLimit } }) => {
        const deliveries = await inDatabase(tools, (_db, db) =>
          listDeliveries(db, { endpointId: given.endpoint, state, limit }),
        );
        return showLog(deliveries);
      },
      remote: async (remote, { given, options: { state, limit = defaultLimit } }) =>
        showLog(await far.listDeliveries(remote, { endpointId: given.endpoint, state, limit })),
    }),
    delivery: makeCommand({
      summary:
        "Show one delivery: its body, and every attempt with status, duration and the first bytes of the answer.",
      takes: delivery,
      run: async (tools, { given }) => {
        return showDelivery(await inDatabase(tools, (_db, db) => getDelivery(db, given.delivery)));
      },
      remote: async (remote, { given }) => showDelivery(await far.getDelivery(remote, given.delivery)),
    }),
    redeliver: makeCommand({
      summary: "Send one delivery again, with the same webhook-id and all retries.",
      takes: delivery,
      run: async (tools, { given }) => {
        await inDatabase(tools, (_db, whole) => redeliver(whole, given.delivery, tools.origin()));
        return done("Delivery queued again.", { id: given.delivery });
      },
      remote: async (remote, { given }) => {
        await far.redeliver(remote, given.delivery);
        return done("Delivery queued again.", { id: given.delivery });
      },
    }),
    "redeliver-failed": makeCommand({
      summary: "Send all failed deliveries of an endpoint again, from a time on.",
      takes: endpoint,
      options: { since: required(option.time("Deliveries made at this time or later.")) },
      run: async (tools, { given, options: { since } }) => {
        const deliveries = await inDatabase(tools, (_db, whole) =>
          redeliverFailed(whole, { endpointId: given.endpoint, since }, tools.origin()),
        );
        return queuedAgain(given.endpoint, deliveries);
      },
      remote: async (remote, { given, options: { since } }) =>
        queuedAgain(given.endpoint, await far.redeliverFailed(remote, given.endpoint, since)),
    }),
    test: makeCommand({
      summary: "Send an endpoint a test event, which is marked as one. The log shows the result.",
      takes: endpoint,
      options: { type: option.oneOf(eventTypes, "Its event type; person if left out.") },
      run: async (tools, { given, options: { type = "person" } }) => {
        const id = await inDatabase(tools, (_db, whole) =>
          sendTestEvent(whole, { endpointId: given.endpoint, eventType: type }, tools.origin()),
        );
        return testQueued(given.endpoint, id);
      },
      remote: async (remote, { given, options: { type = "person" } }) =>
        testQueued(given.endpoint, await far.sendTestEvent(remote, given.endpoint, type)),
    }),
    "debug-signature": debugSignature,
  },
};
