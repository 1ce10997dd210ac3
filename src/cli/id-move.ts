import type { Schemas } from "./admin-api.ts";
import type { Result } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import { recordLines } from "./lines.ts";

type IdMove = Schemas["IdMove"];

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

const started = (answer: IdMove | Schemas["IdMovePreview"]): Result =>
  "state" in answer ? show(answer) : previewed(answer);

export const extensions: Extensions = { start: { print: started }, show: { print: show } };
