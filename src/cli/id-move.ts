import type { Schemas } from "./admin-api.ts";
import type { Result } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";

const previewed = ({ people }: Schemas["IdMovePreview"]): Result => ({
  lines: [`${people} people would keep their id until the cut-over. Nothing was changed.`],
  quiet: [String(people)],
  data: { people },
});

const started = (answer: Schemas["IdMove"] | Schemas["IdMovePreview"]) =>
  "state" in answer ? undefined : previewed(answer);

export const extensions: Extensions = { start: { print: started } };
