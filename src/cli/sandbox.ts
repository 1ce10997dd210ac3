import type { ClientId } from "../access/index.ts";
import type { CreatedSandbox, Sandbox, SandboxId, SandboxStepName } from "../sandbox/index.ts";
import { inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { alignColumns, defaultLimit, done, listOptions, listResult, timeOf, type Columns } from "./lines.ts";
import { argument, option, required } from "./option.ts";
import * as far from "./remote/sandbox.ts";

const module = () => import("../sandbox/index.ts");

const steps = ["JOIN", "MOVE", "LEAVE", "RESTORE", "MANY", "SYNC_OFF", "SYNC_ON", "NEW_YEAR"] as const;
const takes = { sandbox: argument.id<SandboxId>() };

const columns: Columns<Sandbox> = {
  id: ({ id }) => id,
  app: ({ clientId }) => clientId,
  made: ({ createdAt }) => timeOf(createdAt),
  "deleted at": ({ expiresAt }) => timeOf(expiresAt),
  played: ({ steps: all }) => `${all.filter(({ doneAt }) => doneAt !== null).length} of ${all.length}`,
};

function showCreated({ sandbox, accounts }: CreatedSandbox): Result {
  const nameOf = new Map(sandbox.schools.map(({ id, name }) => [id, name]));
  return {
    lines: [
      `Sandbox: ${sandbox.id}, until ${sandbox.expiresAt.toISOString()}`,
      ...sandbox.schools.map(({ id, name }) => `School: ${id} ${name}`),
      "",
      ...accounts.flatMap(({ kind, username, password, schoolIds, expectation }) => [
        `${kind}: ${username} / ${password}`,
        `  ${schoolIds.map((id) => nameOf.get(id)).join(", ")}`,
        `  ${expectation}`,
      ]),
      "",
      "The passwords are not shown again.",
    ],
    quiet: [sandbox.id],
    data: { sandbox, accounts },
  };
}

/** The steps with their times; of those that are done now, what the app should see and do. */
function showPlayed(sandbox: Sandbox, before: Sandbox | null): Result {
  const wasDone = (step: SandboxStepName) =>
    before === null || before.steps.some((one) => one.step === step && one.doneAt !== null);
  const played = sandbox.steps.filter(({ step, doneAt }) => doneAt !== null && !wasDone(step));
  const rows = sandbox.steps.map(({ step, doneAt }) => [step, timeOf(doneAt) ?? "to be played"]);
  const told = played.map(({ step, expectation }) => `${step}: ${expectation}`);
  const nothing = before !== null && told.length === 0 ? ["Nothing was left to play."] : told;
  return { lines: [...alignColumns(rows), ...(nothing.length > 0 ? ["", ...nothing] : [])], data: sandbox };
}

/** The step up to which is played: the one that is named, the last one, or the next. */
function lastOf(sandbox: Sandbox, { upTo, all }: { upTo: SandboxStepName | undefined; all: boolean | undefined }) {
  const last = steps.at(-1)!;
  return upTo ?? (all === true ? last : (sandbox.steps.find(({ doneAt }) => doneAt === null)?.step ?? last));
}

const gone = (id: SandboxId) => done("Sandbox deleted.", { id });

export const sandbox: Noun = {
  verbs: {
    create: makeCommand({
      summary:
        "Make a sandbox: two schools with test users, which this app alone sees. The passwords are shown only once.",
      options: { app: required(option.text("The app that it is for.", "client-id")) },
      run: async (tools, { options: { app } }) => {
        const { createSandbox } = await module();
        const { restoreWindowDays } = tools.config;
        const wanted = { clientId: app as ClientId, restoreWindowDays };
        const finish = async (_change: unknown, made: CreatedSandbox) => made;
        return showCreated(
          await inDatabase(tools, (_db, whole) => createSandbox(whole, { ...wanted, finish }, tools.origin())),
        );
      },
      remote: async (remote, { options: { app } }) => showCreated(await far.createSandbox(remote, app as ClientId)),
    }),
    list: makeCommand({
      summary: "List sandboxes, the newest first.",
      options: {
        app: option.text("Only those of this app.", "client-id"),
        limit: listOptions.limit,
        after: listOptions.after,
      },
      run: async (tools, { options: { app, after, limit = defaultLimit } }) => {
        const { listSandboxes } = await module();
        const asked = { clientId: app as ClientId | undefined, after, limit: limit + 1 };
        return listResult("sandboxes", await inDatabase(tools, (db) => listSandboxes(db, asked)), limit, columns);
      },
      remote: async (remote, { options: { app, after, limit = defaultLimit } }) => {
        const asked = { clientId: app as ClientId | undefined, after, limit: limit + 1 };
        return listResult("sandboxes", await far.listSandboxes(remote, asked), limit, columns);
      },
    }),
    show: makeCommand({
      summary: "Show the steps of the school year, and when each was played.",
      takes,
      run: async (tools, { given: { sandbox: id } }) => {
        const { getSandbox } = await module();
        return showPlayed(await inDatabase(tools, (db) => getSandbox(db, id)), null);
      },
      remote: async (remote, { given: { sandbox: id } }) => showPlayed(await far.getSandbox(remote, id), null),
    }),
    play: makeCommand({
      summary: "Play the next step of a school year, or several; says what the app should see and do.",
      takes,
      options: {
        upTo: option.oneOf(steps, "All steps up to this one; those that are done are left out."),
        all: option.flag("All steps."),
      },
      run: async (tools, { given: { sandbox: id }, options }) => {
        const { getSandbox, playSandbox } = await module();
        return inDatabase(tools, async (db, whole) => {
          const before = await getSandbox(db, id);
          const { at: _at, ...origin } = tools.origin();
          const { clock } = tools;
          const asked = { id, upTo: lastOf(before, options), clock };
          const { restoreWindowDays } = tools.config;
          return showPlayed(await playSandbox(whole, { ...asked, restoreWindowDays }, origin), before);
        });
      },
      remote: async (remote, { given: { sandbox: id }, options }) => {
        const before = await far.getSandbox(remote, id);
        return showPlayed(await far.playSandbox(remote, id, lastOf(before, options)), before);
      },
    }),
    delete: makeCommand({
      summary: "Delete a sandbox at once, with its schools and people.",
      takes,
      run: async (tools, { given: { sandbox: id } }) => {
        const { deleteSandbox } = await module();
        await inDatabase(tools, (_db, whole) => deleteSandbox(whole, id, tools.origin()));
        return gone(id);
      },
      remote: async (remote, { given: { sandbox: id } }) => {
        await far.deleteSandbox(remote, id);
        return gone(id);
      },
    }),
  },
};
