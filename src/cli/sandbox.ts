import { bodyOf, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import { alignColumns } from "./lines.ts";
import { argsNamed, option } from "./option.ts";

type Sandbox = Schemas["Sandbox"];
type StepName = Sandbox["steps"][number]["step"];

const steps = ["JOIN", "MOVE", "LEAVE", "RESTORE", "MANY", "SYNC_OFF", "SYNC_ON", "NEW_YEAR", "ERASE"] as const;
function showCreated({ sandbox, accounts }: Schemas["CreatedSandbox"]): Result {
  const schoolNames = new Map(sandbox.schools.map(({ id, name }) => [id, name]));
  return {
    lines: [
      `Sandbox: ${sandbox.id}, until ${sandbox.expiresAt}`,
      ...sandbox.schools.map(({ id, name }) => `School: ${id} ${name}`),
      "",
      ...accounts.flatMap(({ kind, username, password, schoolIds, expectation }) => [
        `${kind}: ${username} / ${password}`,
        `  ${schoolIds.map((id) => schoolNames.get(id)).join(", ")}`,
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
function showPlayed(sandbox: Sandbox, before: Sandbox): Result {
  const wasDone = (step: StepName) => before.steps.some((one) => one.step === step && one.doneAt !== null);
  const played = sandbox.steps.filter(({ step, doneAt }) => doneAt !== null && !wasDone(step));
  const rows = sandbox.steps.map(({ step, doneAt }) => [step, doneAt ?? "to be played"]);
  const told = played.map(({ step, expectation }) => `${step}: ${expectation}`);
  return {
    lines: [...alignColumns(rows), "", ...(told.length > 0 ? told : ["Nothing was left to play."])],
    data: sandbox,
  };
}

function lastOf(sandbox: Sandbox, { upTo, all }: { upTo: StepName | undefined; all: boolean | undefined }) {
  const last = steps.at(-1)!;
  return upTo ?? (all === true ? last : (sandbox.steps.find(({ doneAt }) => doneAt === null)?.step ?? last));
}

const oneSandbox = "/admin/v1/sandboxes/{sandboxId}";

export const verbs: Verbs = {
  play: makeApiCommand({
    summary: "Play the next step of a school year, or several; says what the app should see and do.",
    args: argsNamed("sandboxId"),
    options: {
      upTo: option.oneOf(steps, "All steps up to this one; those that are done are left out."),
      all: option.flag("All steps."),
    },
    run: async ({ api }, { args: path, options }) => {
      const params = { path };
      const before = await bodyOf(api.GET(oneSandbox, { params }));
      const body = { upTo: lastOf(before, options) };
      return showPlayed(await bodyOf(api.POST(`${oneSandbox}/steps`, { params, body })), before);
    },
  }),
};

export const extensions: Extensions = { create: { print: showCreated } };
