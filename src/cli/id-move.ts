import { bodyOf, omitUndefined, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { done, recordLines } from "./lines.ts";
import { option, UsageError } from "./option.ts";
import { argsOf, changes, shows } from "./verbs.ts";

type IdMove = Schemas["IdMove"];

const oneMove = "/admin/v1/apps/{clientId}/id-move";
const args = argsOf(oneMove);

function show(move: IdMove): Result {
  const { people } = move;
  const lines = recordLines({
    state: move.state,
    ids: move.subjectType,
    sector: move.sector,
    started: move.startedAt,
    "cut-over": move.cutOverAt,
    "people with an old id": String(people),
    announced: `${move.announced} of ${people}`,
    read: `${move.read} of ${people}`,
    "last read": move.readAt,
    "readable until": move.readableUntil,
  });
  return { lines, quiet: [move.state], data: move };
}

const previewed = ({ people }: Schemas["IdMovePreview"]): Result => ({
  lines: [`${people} people would keep their id until the cut-over. Nothing was changed.`],
  quiet: [String(people)],
  data: { people },
});

const targets = ["APP", "PARTNER"] as const;

export const verbs: Verbs = {
  start: makeApiCommand({
    summary:
      "Start to move an app from shared ids of people to ids of its own. Nobody loses their id before the cut-over.",
    args,
    options: {
      ids: option.oneOf(targets, "Which ids it gets: its own (APP, the default), or those of its partner's apps."),
      sector: option.text("With PARTNER: the sector of an app of the same partner whose ids it gets.", "sector"),
      cutOverAt: option.time("When it gets the new ids, such as 2027-02-01T02:00:00Z; left out, you decide it later."),
      dryRun: option.flag("Only say how many people would keep their id until the cut-over."),
    },
    run: async ({ api }, { args: path, options: { ids: subjectType = "APP", sector, cutOverAt, dryRun } }) => {
      const query = dryRun ? { "dry-run": true } : {};
      const body = { subjectType, ...omitUndefined({ sector, cutOverAt: cutOverAt?.toISOString() }) };
      const answer = await bodyOf(api.POST(oneMove, { params: { path, query, ...withIdempotencyKey() }, body }));
      return "state" in answer ? show(answer) : previewed(answer);
    },
  }),
  show: shows(oneMove, { summary: "Show how far the move of an app is.", show }),
  "set-date": makeApiCommand({
    summary: "Change when an app gets the new ids.",
    args,
    options: {
      cutOverAt: option.time("The time of the cut-over, such as 2027-02-01T02:00:00Z."),
      noDate: option.flag("Decide it later."),
    },
    run: async ({ api }, { args: path, options: { cutOverAt, noDate } }) => {
      if ((cutOverAt === undefined) !== noDate) throw new UsageError("Give --cut-over-at or --no-date.");
      const body = { cutOverAt: cutOverAt?.toISOString() ?? null };
      await api.PATCH(oneMove, { params: { path }, body });
      return done("Date changed.", { ...path, ...body });
    },
  }),
  "cut-over": changes("post", `${oneMove}/cut-over`, {
    summary: "Give an app the new ids now. From then on it knows nobody by an old id.",
    line: "The app has the new ids.",
    irreversible: "From now on the app reads the new ids only.",
    data: (ids) => ids,
  }),
  "call-off": changes("delete", oneMove, {
    summary: "Call off the move of an app before the cut-over. All ids stay as the app knows them.",
    line: "Move called off.",
    data: (ids) => ids,
  }),
};
