import * as connections from "../../connections/index.ts";
import type {
  RosterConnection,
  RosterConnectionId,
  RosterRun,
  SettingName,
  SourceKind,
} from "../../connections/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { isReached, type Reach } from "../../staff/index.ts";
import { answerRecord, changeRecord, commit, commitCreated, omit, tagOf } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";
import { refuseOtherSchool } from "../reached.ts";
import { roleForbids } from "../rights.ts";

type Presented = Schemas["RosterConnection"];

const presentConnection = ({ settings, lastFailure, ...connection }: RosterConnection): Presented => {
  const settingTexts = Object.fromEntries(connections.settingNames.map((name) => [name, settings[name] ?? null]));
  return present("RosterConnection", {
    ...connection,
    ...(settingTexts as Record<SettingName, string | null>),
    lastFailure: lastFailure ?? "NONE",
  });
};

/** Properties that change without a change of the settings. */
const status = ["nextRunAt", "failingSince", "lastFailure", "updatedAt"] as const satisfies (keyof Presented)[];

/** What the audit log shows: no mail addresses. */
const recorded = (presented: Presented): object => omit(presented, [...status, "notifyAddresses"]);

export const presentFailing = ({ schoolIds, failingSince, lastFailure, ...connection }: RosterConnection) =>
  present("FailingRosterConnection", {
    ...connection,
    schoolId: schoolIds[0]!,
    failingSince: failingSince!,
    lastFailure: lastFailure ?? "NONE",
  });

const presentRun = ({ failure, ...run }: RosterRun) => present("RosterRun", { ...run, failure: failure ?? "NONE" });

type ConnectionQuery = { rosterConnectionId: RosterConnectionId; reach: Reach };

/** Errors: not_found roster_connection_not_found, also if one of its schools is out of reach. */
async function readReached(db: RecordStore, { rosterConnectionId, reach }: ConnectionQuery): Promise<Presented> {
  const connection = await connections.getRosterConnection(db, rosterConnectionId);
  if (!isReached(reach, { everySchool: connection.schoolIds })) throw connections.rosterConnectionNotFound();
  return presentConnection(connection);
}

export const listRosterSources: AdminHandler<"listRosterSources"> = async ({ rosterRuns }, { reach, page }) => {
  const offered = Object.entries(rosterRuns.sources).filter(([, source]) => reach.all || !source.isForOperators);
  const sources = offered.map(([kind, { fields, secret, server }]) => {
    const needing = (wanted: string) => connections.settingNames.filter((name) => fields[name] === wanted);
    return present("RosterSource", {
      kind: kind as SourceKind,
      required: needing("required"),
      optional: needing("optional"),
      secret: secret.toUpperCase() as Schemas["RosterNeed"],
      serverAddress: server?.address ?? null,
      hostKeyFingerprint: server?.fingerprint ?? null,
    });
  });
  const kindOf = ({ kind }: Schemas["RosterSource"]): string => kind;
  return page.answerFrom(sources, (one) => one, kindOf);
};

export const listRosterConnections: AdminHandler<"listRosterConnections"> = async ({ db }, { query, reach, page }) => {
  const listed = await connections.listRosterConnections(db, {
    among: reach.all ? undefined : [...reach.schoolIds],
    atSchools: query.school === undefined ? undefined : [query.school],
    isFailing: query.failing,
    ...page.range,
  });
  return page.answer(listed, presentConnection);
};

export const getRosterConnection: AdminHandler<"getRosterConnection"> = async ({ db }, request) =>
  answerRecord(await readReached(db, request), status);

const contextOf = ({ webhookKeys, rosterRuns }: AdminDeps, origin: AdminRequest<"getMe">["origin"]) => ({
  keys: webhookKeys,
  sources: rosterRuns.sources,
  origin,
});

/** A file of the machine may be another school's. */
function refuseFolder({ rosterRuns }: AdminDeps, { all }: Reach, kind: SourceKind): void {
  if (!all && (kind === "FOLDER" || rosterRuns.sources[kind]?.isForOperators === true))
    throw roleForbids("Only an operator sets up a connection with a file of the machine.");
}

export const createRosterConnection: AdminHandler<"createRosterConnection"> = async (deps, request) => {
  const { body: settings, reach, origin } = request;
  for (const schoolId of settings.schoolIds) refuseOtherSchool(reach, schoolId);
  refuseFolder(deps, reach, settings.kind);
  await connections.checkAddresses(settings, deps.policy);
  return commitCreated(deps, request, async (tx) => {
    const rosterConnectionId = await connections.createRosterConnectionIn(tx, settings, contextOf(deps, origin));
    const body = await readReached(tx, { rosterConnectionId, reach });
    const location = `/admin/v1/roster-connections/${rosterConnectionId}`;
    return { body, location, recorded: recorded(body), tag: tagOf(body, status) };
  });
};

const steps = (request: ConnectionQuery) => ({
  touch: (tx: RecordStore & Parameters<typeof connections.lockRosterConnection>[0]) =>
    connections.lockRosterConnection(tx, request.rosterConnectionId),
  record: (tx: RecordStore) => readReached(tx, request),
  without: status,
  recorded,
});

export const updateRosterConnection: AdminHandler<"updateRosterConnection"> = async (deps, request) => {
  const { rosterConnectionId, body, reach, origin } = request;
  const { kind } = await readReached(deps.db, request);
  for (const schoolId of body.schoolIds ?? []) refuseOtherSchool(reach, schoolId);
  const { state: _state, ...settings } = body;
  if (Object.keys(settings).length > 0) refuseFolder(deps, reach, kind);
  await connections.checkAddresses(body, deps.policy);
  return changeRecord(deps, request, {
    ...steps(request),
    work: (tx) => connections.updateRosterConnectionIn(tx, rosterConnectionId, body, contextOf(deps, origin)),
  });
};

export const deleteRosterConnection: AdminHandler<"deleteRosterConnection"> = (deps, request) =>
  changeRecord(deps, request, {
    ...steps(request),
    work: (tx) => connections.deleteRosterConnectionIn(tx, request.rosterConnectionId, request.origin),
    effect: "ends",
  });

const begin =
  (trigger: "HAND" | "TEST") =>
  async (deps: AdminDeps, request: ConnectionQuery & Pick<AdminRequest<"runRosterConnection">, "origin" | "keep">) => {
    await readReached(deps.db, request);
    const body = presentRun(await deps.rosterRuns.start(request.rosterConnectionId, trigger, request.origin));
    return commit(deps, request, async () => ({ status: 200 as const, body }));
  };

export const testRosterConnection: AdminHandler<"testRosterConnection"> = begin("TEST");
export const runRosterConnection: AdminHandler<"runRosterConnection"> = begin("HAND");

export const listRosterRuns: AdminHandler<"listRosterRuns"> = async ({ db }, request) => {
  const { rosterConnectionId, page } = request;
  await readReached(db, request);
  return page.answer(
    await connections.listRosterRuns(db, { connectionId: rosterConnectionId, ...page.range }),
    presentRun,
  );
};
