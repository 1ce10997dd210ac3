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
import type { Db } from "../platform/db.ts";
import { done, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { alignColumns, defaultLimit, recordLines } from "./lines.ts";
import { argument, option, required } from "./option.ts";
import { reachOf } from "./reach.ts";

const endpoint = { endpoint: argument.id() };
const delivery = { delivery: argument.text() };
const app = { app: argument.text() };
const defaultOverlapHours = 24;

const secretLines = (secret: string): string[] => [`Secret: ${secret}`, "The secret is not shown again."];
const time = (at: Date | null): string | null => at?.toISOString() ?? null;

function endpointLines({
  id,
  clientId,
  url,
  eventTypes: types,
  state,
  reason,
  resumeAt,
  failingSince,
  pending,
}: Endpoint): string[] {
  const words = reason === null ? state.toLowerCase() : `${state.toLowerCase()}: ${reason.replace("_", " ")}`;
  return recordLines({
    id,
    app: clientId,
    url,
    types: types.join(", "),
    state: words,
    "tried again": time(resumeAt),
    "failing since": time(failingSince),
    waiting: String(pending),
  });
}

const deliveryColumns = ({
  id,
  state,
  eventType,
  messageId,
  attempts,
  createdAt,
  nextAttemptAt,
}: Delivery): string[] => [
  id,
  state,
  eventType,
  messageId,
  `${attempts} attempts`,
  createdAt.toISOString(),
  nextAttemptAt === null ? "" : `next ${nextAttemptAt.toISOString()}`,
];

const attemptColumns = ({ number, at, durationMs, status, error, answer }: Attempt): string[] => [
  String(number),
  at.toISOString(),
  `${durationMs} ms`,
  status === null ? (error ?? "") : String(status),
  JSON.stringify((answer ?? "").slice(0, 80)),
];

/** A change of one endpoint that has nothing to tell but that it is done. */
const simple = (summary: string, line: string, change: (db: Db, id: string, origin: Origin) => Promise<void>) =>
  makeCommand({
    summary,
    takes: endpoint,
    run: async (tools, { given }): Promise<Result> => {
      await inDatabase(tools, (_db, whole) => change(whole, given.endpoint, tools.origin()));
      return done(line, { id: given.endpoint });
    },
  });

const typeOption = option.someOf(eventTypes, "Event types to be told of; all three if left out.");

export const webhook: Noun = {
  summary: "Webhooks: where apps are told of changes, and how that went.",
  verbs: {
    list: makeCommand({
      summary: "List endpoints with their state.",
      options: { app: option.text("Only those of this app.", "client-id") },
      run: async (tools, { options }) => {
        const endpoints = await inDatabase(tools, (db) => listEndpoints(db, { clientId: options.app }));
        const rows = endpoints.map(({ id, clientId, state, reason, eventTypes: types, url }) => [
          id,
          clientId,
          state,
          reason ?? "",
          types.join(","),
          url,
        ]);
        return { lines: rows.length === 0 ? ["There are none."] : alignColumns(rows), data: { endpoints } };
      },
    }),
    show: makeCommand({
      summary: "Show an endpoint: its state, why, and how much waits for it.",
      takes: endpoint,
      run: async (tools, { given }) => {
        const found = await inDatabase(tools, (db) => getEndpoint(db, given.endpoint));
        return { lines: endpointLines(found), data: found };
      },
    }),
    add: makeCommand({
      summary: "Register where an app is told of changes. Its secret is shown this once.",
      takes: app,
      options: {
        url: required(option.text("Where requests are sent; https, at a public address.", "url")),
        type: typeOption,
      },
      run: async (tools, { given, options: { url, type = [...eventTypes] } }) => {
        const context = { origin: tools.origin(), keys: tools.config.encryptionKeys, reach: reachOf(tools) };
        const made = await inDatabase(tools, (_db, whole) =>
          registerEndpoint(whole, { clientId: given.app, url, eventTypes: type }, context),
        );
        return { lines: [`Endpoint: ${made.id}`, ...secretLines(made.secret)], data: made };
      },
    }),
    update: makeCommand({
      summary: "Change address or event types; what waits goes to the new address.",
      takes: endpoint,
      options: {
        url: option.text("Where requests are sent from now on.", "url"),
        type: option.someOf(eventTypes, "Event types to be told of, as a whole."),
      },
      run: async (tools, { given, options: { url, type } }) => {
        await inDatabase(tools, (_db, whole) =>
          updateEndpoint(
            whole,
            { id: given.endpoint, url, eventTypes: type },
            { origin: tools.origin(), reach: reachOf(tools) },
          ),
        );
        return done("The endpoint is as you said.", { id: given.endpoint });
      },
    }),
    "rotate-secret": makeCommand({
      summary: "Give an endpoint a new secret, which is shown this once; the old one stays valid for the overlap.",
      takes: endpoint,
      options: {
        overlapHours: option.count(
          `Hours for which both are valid; ${defaultOverlapHours} if left out, 0 for a secret that leaked.`,
        ),
      },
      run: async (tools, { given, options: { overlapHours = defaultOverlapHours } }) => {
        const context = { origin: tools.origin(), keys: tools.config.encryptionKeys };
        const rotated = await inDatabase(tools, (_db, whole) =>
          rotateEndpointSecret(whole, { id: given.endpoint, overlapHours }, context),
        );
        return {
          lines: [...secretLines(rotated.secret), `The old one is valid until ${rotated.oldValidUntil.toISOString()}.`],
          data: { id: given.endpoint, ...rotated },
        };
      },
    }),
    pause: simple("Let events wait until the endpoint is resumed.", "The endpoint is paused.", pauseEndpoint),
    resume: simple(
      "Make a paused or disabled endpoint active; what waits is delivered.",
      "The endpoint is active.",
      resumeEndpoint,
    ),
    disable: simple(
      "Drop what waits and whatever comes, until the endpoint is resumed.",
      "The endpoint is disabled.",
      disableEndpoint,
    ),
    remove: simple(
      "Take an endpoint away with its secrets and its log. It cannot be undone.",
      "The endpoint is gone.",
      removeEndpoint,
    ),
    log: makeCommand({
      summary: "List the deliveries of an endpoint, the newest first; they are kept for a time.",
      takes: endpoint,
      options: {
        state: option.oneOf(["PENDING", "DELIVERED", "FAILED"] as const, "Only those in this state."),
        limit: option.count(`How many at most; ${defaultLimit} if left out.`),
      },
      run: async (tools, { given, options: { state, limit = defaultLimit } }) => {
        const deliveries = await inDatabase(tools, (db) =>
          listDeliveries(db, { endpointId: given.endpoint, state, limit }),
        );
        return {
          lines: deliveries.length === 0 ? ["There are none."] : alignColumns(deliveries.map(deliveryColumns)),
          data: { deliveries },
        };
      },
    }),
    delivery: makeCommand({
      summary:
        "Show one delivery: its body, and every attempt with status, duration and the first bytes of the answer.",
      takes: delivery,
      run: async (tools, { given }) => {
        const found = await inDatabase(tools, (db) => getDelivery(db, given.delivery));
        const { id, messageId, endpointId, state, body } = found;
        return {
          lines: [
            ...recordLines({ id, "webhook-id": messageId, endpoint: endpointId, state, body }),
            ...alignColumns(found.log.map(attemptColumns)),
          ],
          data: found,
        };
      },
    }),
    redeliver: makeCommand({
      summary: "Send one delivery again, with the same webhook-id and all its tries anew.",
      takes: delivery,
      run: async (tools, { given }) => {
        await inDatabase(tools, (_db, whole) => redeliver(whole, given.delivery, tools.origin()));
        return done("The delivery is sent again.", { id: given.delivery });
      },
    }),
    "redeliver-failed": makeCommand({
      summary: "Send everything again that an endpoint failed to take since a time.",
      takes: endpoint,
      options: { since: required(option.time("Deliveries made at this time or later.")) },
      run: async (tools, { given, options: { since } }) => {
        const deliveries = await inDatabase(tools, (_db, whole) =>
          redeliverFailed(whole, { endpointId: given.endpoint, since }, tools.origin()),
        );
        return done(`${deliveries} deliveries are sent again.`, { id: given.endpoint, deliveries });
      },
    }),
    test: makeCommand({
      summary: "Send an endpoint an event that tells of no change and says so; its log shows what came of it.",
      takes: endpoint,
      options: { type: option.oneOf(eventTypes, "Its event type; person if left out.") },
      run: async (tools, { given, options: { type = "person" } }) => {
        const id = await inDatabase(tools, (_db, whole) =>
          sendTestEvent(whole, { endpointId: given.endpoint, eventType: type }, tools.origin()),
        );
        return done(`Delivery ${id} is on its way.`, { id: given.endpoint, delivery: id });
      },
    }),
  },
};
