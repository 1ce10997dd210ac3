import {
  appAttributes,
  checkBackchannelLogoutUri,
  createApp,
  deleteApp,
  endOldSecret,
  findApp,
  listApps,
  rotateClientSecret,
  scopeNames,
  updateApp,
} from "../access/index.ts";
import type { App, ClientId, Registration } from "../access/index.ts";
import { adviseSent, adviseSignOn, signOnAdviceTexts, signOnDocs } from "../platform/advice/sign-on/index.ts";
import { withPrismaTransaction } from "../platform/database/db.ts";
import type { Transaction } from "../platform/database/db.ts";
import { found, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result, type Tools } from "./command.ts";
import { done, recordLines, wholeList } from "./lines.ts";
import { argument, option, readDuration, required, UsageError } from "./option.ts";
import { policyOf, withPolicyHint } from "./outbound-policy.ts";
import * as far from "./remote/app.ts";
import type { Schemas } from "./admin-api.ts";
import { getAppView } from "./remote/watch.ts";

const takes = { app: argument.text<ClientId>() };

const properties = {
  name: option.text("Its name, as people see it."),
  redirectUri: option.texts("Where people are sent back to; compared letter by letter.", "uri"),
  postLogoutRedirectUri: option.texts("Where people are sent after a logout; compared letter by letter.", "uri"),
  loginUrl: option.text("Where its tile leads.", "url"),
  backchannelLogoutUri: option.text("Where it is notified of logouts.", "uri"),
  scope: option.someOf(scopeNames, "Scopes it may ask for, such as schools:read."),
  attribute: option.someOf(appAttributes, "What it may read beside the rest of a record; everything if left out."),
  noAttributes: option.flag("It may read none of these."),
  idTokenAlgorithm: option.oneOf(["RS256", "ES256", "EdDSA"] as const, "How its ID tokens are signed."),
  schulconnexSpelling: option.oneOf(["V1_4", "V1_7"] as const, "How it reads Schulconnex codes."),
  noPkce: option.flag("Do not require PKCE; confidential apps only."),
  pkce: option.flag("Require PKCE; the default for a new app."),
};

const write = <T>({ withDatabase }: Tools, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  withDatabase(({ db }) => withPrismaTransaction(db, work));

type Written = {
  name?: string | undefined;
  redirectUri?: readonly string[] | undefined;
  postLogoutRedirectUri?: readonly string[] | undefined;
  loginUrl?: string | undefined;
  backchannelLogoutUri?: string | undefined;
  scope?: App["scopes"] | undefined;
  attribute?: App["attributes"] | undefined;
  noAttributes: boolean;
  idTokenAlgorithm?: App["idTokenAlgorithm"] | undefined;
  schulconnexSpelling?: App["schulconnexSpelling"] | undefined;
  noPkce: boolean;
  pkce: boolean;
};

type Checked = Partial<Omit<Registration, "clientId" | "type">>;
type Fields = Omit<Checked, "backchannelLogoutUri"> & { backchannelLogoutUri?: string };

/** The fields of a registration that were given. Errors: UsageError. */
function readRegistration(written: Written): Fields {
  const {
    name,
    redirectUri,
    postLogoutRedirectUri,
    loginUrl,
    backchannelLogoutUri,
    scope,
    attribute,
    noAttributes,
    idTokenAlgorithm,
    schulconnexSpelling,
    noPkce,
    pkce,
  } = written;
  if (attribute && noAttributes) throw new UsageError("Give --attribute or --no-attributes, not both.");
  if (pkce && noPkce) throw new UsageError("Give --pkce or --no-pkce, not both.");
  return {
    ...(name !== undefined && { name }),
    ...(redirectUri && { redirectUris: [...redirectUri] }),
    ...(postLogoutRedirectUri && { postLogoutRedirectUris: [...postLogoutRedirectUri] }),
    ...(loginUrl !== undefined && { loginUrl }),
    ...(backchannelLogoutUri !== undefined && { backchannelLogoutUri }),
    ...(scope && { scopes: [...new Set(scope)] }),
    ...((attribute || noAttributes) && { attributes: [...new Set(attribute)] }),
    ...(idTokenAlgorithm && { idTokenAlgorithm }),
    ...(schulconnexSpelling && { schulconnexSpelling }),
    ...((pkce || noPkce) && { pkceRequired: pkce }),
  };
}

/** The same, where the service can send its notices to the address that is given. */
async function readChecked(tools: Tools, written: Written): Promise<Checked> {
  const { backchannelLogoutUri: uri, ...fields } = readRegistration(written);
  if (uri === undefined) return fields;
  return { ...fields, backchannelLogoutUri: await withPolicyHint(checkBackchannelLogoutUri(uri, policyOf(tools))) };
}

/** A registration without the hashes of secrets, and with the end of the old one while it is valid. */
function shownOf(registered: App, now: Date): Shown {
  const { clientId, name, type, pkceRequired, redirectUris, postLogoutRedirectUris, loginUrl } = registered;
  const { backchannelLogoutUri, scopes, attributes, idTokenAlgorithm, schulconnexSpelling, oldSecretEndsAt } =
    registered;
  return {
    clientId,
    name,
    type,
    pkceRequired,
    redirectUris,
    postLogoutRedirectUris,
    loginUrl,
    backchannelLogoutUri,
    scopes,
    attributes,
    idTokenAlgorithm,
    schulconnexSpelling,
    oldSecretEndsAt: oldSecretEndsAt !== null && oldSecretEndsAt > now ? oldSecretEndsAt : null,
  };
}

type Shown = far.ShownApp;

const defaultOverlap = "24h";

const shownValue = (value: unknown): string | null => {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.join(" ") : value === null ? null : String(value as string | boolean);
};

const secretLines = (secret: string | null): string[] =>
  secret === null ? [] : [`Client secret: ${secret}`, "The secret is not shown again."];

const origins = ({ config, origin }: Tools) => ({ ...origin(), allowLoopbackHttp: !config.production });

type Made = { clientId: string; clientSecret: string | null };

const created = (made: Made): Result => ({
  lines: [`Client id: ${made.clientId}`, ...secretLines(made.clientSecret)],
  quiet: [made.clientId, made.clientSecret].filter((one) => one !== null),
  data: made,
});

const updated = (clientId: ClientId, changed: readonly string[]): Result =>
  done(changed.length === 0 ? "No change." : "App updated.", { clientId, changed });

type Rotated = { clientSecret: string; oldSecretEndsAt: Date | null };

function secretRotated(clientId: ClientId, rotated: Rotated): Result {
  const { clientSecret, oldSecretEndsAt } = rotated;
  const end =
    oldSecretEndsAt === null
      ? "The old one is no longer valid."
      : `The old one is valid until ${oldSecretEndsAt.toISOString()}.`;
  return { lines: [...secretLines(clientSecret), end], quiet: [clientSecret], data: { clientId, ...rotated } };
}

const oldSecretEnded = (clientId: ClientId): Result => done("Old secret ended.", { clientId });
const deleted = (clientId: ClientId): Result => done("App deleted.", { clientId });

const show = (shown: Shown): Result => ({
  lines: recordLines(Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, shownValue(value)]))),
  quiet: [shown.clientId],
  data: shown,
});

function showAll(apps: readonly Shown[]): Result {
  const columns = {
    "client id": ({ clientId }: Shown) => clientId,
    type: ({ type }: Shown) => type,
    name: ({ name }: Shown) => name,
  };
  return wholeList("apps", apps, { columns, id: ({ clientId }) => clientId });
}

const viewed: readonly Schemas["AppViewResource"][] = [
  ...(["school", "users", "groups", "people", "group", "user", "person", "personen-info"] as const),
];

const shownView = (view: Schemas["AppView"]): Result => ({
  lines: [
    ...recordLines({
      path: view.path,
      status: String(view.status),
      etag: view.etag,
      records: view.count === null ? null : String(view.count),
    }),
    ...(view.body === null ? [] : ["", view.body]),
  ],
  quiet: view.body === null ? [] : [view.body],
  data: view,
});

type SentParameter = NonNullable<far.SignOnAttempt["steps"][number]["sent"]>[number];

/** The line of a parameter; none of one that was not sent and need not be. */
function lineOfSent({ name, value, length, problem, advice }: SentParameter): string[] {
  const isSent = value !== null || length !== null;
  if (!isSent && problem === null) return [];
  const shown = value ?? (length === null ? "not sent" : `(${length} characters)`);
  const wrong = problem === null ? "" : `  <- ${problem}${advice === null ? "" : `: ${advice} See ${signOnDocs}.`}`;
  return [`    ${name}: ${shown}${wrong}`];
}

/** Shape: fields in the order in which they are printed. */
function showSignOns(attempts: readonly far.SignOnAttempt[]): Result {
  const signOns = attempts.map(({ id, steps }) => {
    const advised = adviseSignOn(steps);
    return {
      id,
      advice: advised === null ? null : signOnAdviceTexts.en[advised.advice],
      steps: steps.map(({ at, step, outcome, code, description, requestId, sent }) => ({
        at,
        step,
        outcome,
        code,
        description,
        requestId,
        sent:
          sent?.map(({ name, value, length, problem, advice }) => ({ name, value, length, problem, advice })) ?? null,
      })),
    };
  });
  const lines = signOns.flatMap(({ advice, steps }) => [
    ...steps.flatMap(({ at, step, outcome, sent, ...of }) => [
      [at, step, outcome, of.code, of.description, of.requestId].filter((part) => part !== null).join("  "),
      ...(sent ?? []).flatMap(lineOfSent),
    ]),
    ...(advice === null ? [] : [`  ${advice} See ${signOnDocs}.`]),
    "",
  ]);
  const empty = ["Nobody signed in during the last seven days."];
  return { lines: signOns.length === 0 ? empty : lines, data: { signOns } };
}

export const app: Noun = {
  verbs: {
    create: makeCommand({
      summary: "Register an app. A confidential one gets a secret, which is shown only once.",
      options: {
        ...properties,
        name: required(properties.name),
        type: option.oneOf(
          ["CONFIDENTIAL", "PUBLIC"] as const,
          "Whether it can keep a secret; CONFIDENTIAL if left out.",
        ),
        clientId: option.text("Its client id, where it has one already."),
      },
      run: async (tools, { options: { type = "CONFIDENTIAL", clientId, name, ...rest } }) => {
        const id = clientId === undefined ? {} : { clientId: clientId as ClientId };
        const registration = {
          scopes: [],
          redirectUris: [],
          ...(await readChecked(tools, rest)),
          ...id,
          name,
          type,
        };
        return created(await write(tools, (tx) => createApp(tx, registration, origins(tools))));
      },
      remote: async (remote, { options: { type = "CONFIDENTIAL", clientId, name, ...rest } }) =>
        created(await far.createApp(remote, { ...readRegistration(rest), clientId, name, type })),
    }),
    update: makeCommand({
      summary: "Change what is given of a registration; a list is replaced as a whole.",
      takes,
      options: properties,
      run: async (tools, { given, options }) => {
        const update = await readChecked(tools, options);
        if (Object.keys(update).length > 0)
          await write(tools, (tx) => updateApp(tx, { clientId: given.app, ...update }, origins(tools)));
        return updated(given.app, Object.keys(update));
      },
      remote: async (remote, { given, options }) => {
        const update = readRegistration(options);
        if (Object.keys(update).length > 0) await far.updateApp(remote, given.app, update);
        return updated(given.app, Object.keys(update));
      },
    }),
    "rotate-secret": makeCommand({
      summary: "Give an app a new secret, which is shown only once. The present one stays valid for a time.",
      takes,
      options: {
        keepOldFor: option.duration(
          `How long both are valid, such as 7d or 12h; ${defaultOverlap} if left out, 0 for a secret that leaked: the tokens that it got end too.`,
        ),
      },
      run: async (tools, { given, options: { keepOldFor = readDuration(defaultOverlap) } }) => {
        const { forgetClientTokens } = await import("../sign-on/index.ts");
        const rotated = await write(tools, async (tx) => {
          const wanted = { clientId: given.app, keepOldSeconds: keepOldFor };
          const made = await rotateClientSecret(tx, wanted, tools.origin());
          if (keepOldFor === 0) await forgetClientTokens(tx, given.app);
          return made;
        });
        return secretRotated(given.app, rotated);
      },
      remote: async (remote, { given, options: { keepOldFor = readDuration(defaultOverlap) } }) =>
        secretRotated(given.app, await far.rotateSecret(remote, given.app, keepOldFor)),
    }),
    "end-old-secret": makeCommand({
      summary: "End the old secret before its time is over.",
      takes,
      run: async (tools, { given }) => {
        await write(tools, (tx) => endOldSecret(tx, given.app, tools.origin()));
        return oldSecretEnded(given.app);
      },
      remote: async (remote, { given }) => {
        await far.endOldSecret(remote, given.app);
        return oldSecretEnded(given.app);
      },
    }),
    delete: makeCommand({
      summary: "Delete an app with everything that belongs to it, at once. Its client id is never used again.",
      takes,
      irreversible: "This deletes the app with its grants, consents, tokens, events and webhooks.",
      run: async (tools, { given }) => {
        const { forgetAppWithSandboxes } = await import("../sandbox/index.ts");
        const { listEndpoints, removeDeliveries } = await import("../webhooks/index.ts");
        await inDatabase(tools, async (_db, db) => {
          const endpoints = await listEndpoints(db, { clientId: given.app });
          await deleteApp(db, given.app, { origin: tools.origin(), forget: forgetAppWithSandboxes });
          await removeDeliveries(
            db,
            endpoints.map(({ id }) => id),
          );
        });
        return deleted(given.app);
      },
      remote: async (remote, { given }) => {
        await far.deleteApp(remote, given.app);
        return deleted(given.app);
      },
    }),
    "sign-ons": makeCommand({
      summary: "Show the last sign-ons to an app: where each stopped, and how to mend it. Nobody's name is in them.",
      takes,
      options: { limit: option.count("How many at most; 20 if left out.") },
      run: async (tools, { given, options: { limit = 20 } }) => {
        const { listSignOnAttempts } = await import("../traffic/index.ts");
        const attempts = await inDatabase(tools, async (db, { pool }) => {
          found(await findApp(db, given.app), "app_not_found", "The app does not exist.");
          return listSignOnAttempts(pool, { clientId: given.app, limit });
        });
        const shown = attempts.map(({ id, steps }) => ({
          id,
          steps: steps.map(({ at, sent, ...step }) => ({
            ...step,
            at: at.toISOString(),
            sent: sent?.map((one) => ({ ...one, advice: adviseSent(one, "en") })) ?? null,
          })),
        }));
        return showSignOns(shown);
      },
      remote: async (remote, { given, options: { limit = 20 } }) =>
        showSignOns(await far.listSignOns(remote, given.app, limit)),
    }),
    view: makeCommand({
      summary: "Show exactly what an app gets when it asks for something of a school.",
      takes: { app: argument.text<ClientId>(), school: argument.school(), resource: argument.oneOf(viewed) },
      options: {
        id: option.id("Which group, user or person."),
        showDeleted: option.flag("Deleted ones too, of groups and people."),
      },
      run: { reason: "The service answers as it answers the app." },
      remote: async (remote, { given: { app: clientId, school: schoolId, resource }, options }) =>
        shownView(await getAppView(remote, { clientId, schoolId, resource, ...options })),
    }),
    show: makeCommand({
      summary: "Show one registration.",
      takes,
      run: async (tools, { given }) => {
        const registered = await inDatabase(tools, (db) => findApp(db, given.app));
        return show(shownOf(found(registered, "app_not_found", "The app does not exist."), tools.clock()));
      },
      remote: async (remote, { given }) => show(await far.findApp(remote, given.app)),
    }),
    list: makeCommand({
      summary: "List all apps by name.",
      run: async (tools) => {
        const apps = await inDatabase(tools, (db) => listApps(db));
        return showAll(apps.map((registered) => shownOf(registered, tools.clock())));
      },
      remote: async (remote) => showAll(await far.listApps(remote)),
    }),
  },
};
