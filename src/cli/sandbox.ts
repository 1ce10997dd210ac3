import { bodyOf, omitUndefined, readListResult, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Noun, type Result } from "./command.ts";
import { alignColumns, done, listOptions, type Columns } from "./lines.ts";
import { argument, option, required } from "./option.ts";

type Sandbox = Schemas["Sandbox"];
type StepName = Sandbox["steps"][number]["step"];

const steps = ["JOIN", "MOVE", "LEAVE", "RESTORE", "MANY", "SYNC_OFF", "SYNC_ON", "NEW_YEAR"] as const;
const args = { sandbox: argument.id() };

const columns: Columns<Sandbox> = {
  id: ({ id }) => id,
  app: ({ clientId }) => clientId,
  made: ({ createdAt }) => createdAt,
  "deleted at": ({ expiresAt }) => expiresAt,
  played: ({ steps: all }) => `${all.filter(({ doneAt }) => doneAt !== null).length} of ${all.length}`,
};

function showCreated({ sandbox, accounts }: Schemas["CreatedSandbox"]): Result {
  const nameOf = new Map(sandbox.schools.map(({ id, name }) => [id, name]));
  return {
    lines: [
      `Sandbox: ${sandbox.id}, until ${sandbox.expiresAt}`,
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
  const wasDone = (step: StepName) =>
    before === null || before.steps.some((one) => one.step === step && one.doneAt !== null);
  const played = sandbox.steps.filter(({ step, doneAt }) => doneAt !== null && !wasDone(step));
  const rows = sandbox.steps.map(({ step, doneAt }) => [step, doneAt ?? "to be played"]);
  const told = played.map(({ step, expectation }) => `${step}: ${expectation}`);
  const nothing = before !== null && told.length === 0 ? ["Nothing was left to play."] : told;
  return { lines: [...alignColumns(rows), ...(nothing.length > 0 ? ["", ...nothing] : [])], data: sandbox };
}

/** The step up to which is played: the one that is named, the last one, or the next. */
function lastOf(sandbox: Sandbox, { upTo, all }: { upTo: StepName | undefined; all: boolean | undefined }) {
  const last = steps.at(-1)!;
  return upTo ?? (all === true ? last : (sandbox.steps.find(({ doneAt }) => doneAt === null)?.step ?? last));
}

const gone = (id: string) => done("Sandbox deleted.", { id });

const oneSandbox = "/admin/v1/sandboxes/{sandboxId}";

export const sandbox: Noun = {
  verbs: {
    create: makeApiCommand({
      summary:
        "Make a sandbox: two schools with test users, which this app alone sees. The passwords are shown only once.",
      options: { app: required(option.text("The app that it is for.", "client-id")) },
      run: async ({ api }, { options: { app: clientId } }) => {
        const params = { path: { clientId }, ...withIdempotencyKey() };
        return showCreated(await bodyOf(api.POST("/admin/v1/apps/{clientId}/sandboxes", { params })));
      },
    }),
    list: makeApiCommand({
      summary: "List sandboxes, the newest first.",
      options: {
        app: option.text("Only those of this app.", "client-id"),
        limit: listOptions.limit,
        after: listOptions.after,
      },
      run: ({ api }, { options: { app, ...part } }) => {
        const query = omitUndefined({ app });
        const read = (page: object) => api.GET("/admin/v1/sandboxes", { params: { query: { ...query, ...page } } });
        return readListResult("sandboxes", read, { ...part, columns });
      },
    }),
    show: makeApiCommand({
      summary: "Show the steps of the school year, and when each was played.",
      args,
      run: async ({ api }, { args: { sandbox: sandboxId } }) =>
        showPlayed(await bodyOf(api.GET(oneSandbox, { params: { path: { sandboxId } } })), null),
    }),
    play: makeApiCommand({
      summary: "Play the next step of a school year, or several; says what the app should see and do.",
      args,
      options: {
        upTo: option.oneOf(steps, "All steps up to this one; those that are done are left out."),
        all: option.flag("All steps."),
      },
      run: async ({ api }, { args: { sandbox: sandboxId }, options }) => {
        const params = { path: { sandboxId } };
        const before = await bodyOf(api.GET(oneSandbox, { params }));
        const body = { upTo: lastOf(before, options) };
        return showPlayed(await bodyOf(api.POST(`${oneSandbox}/steps`, { params, body })), before);
      },
    }),
    delete: makeApiCommand({
      summary: "Delete a sandbox at once, with its schools and people.",
      args,
      run: async ({ api }, { args: { sandbox: sandboxId } }) => {
        await api.DELETE(oneSandbox, { params: { path: { sandboxId } } });
        return gone(sandboxId);
      },
    }),
  },
};
