import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Eta } from "eta";

/** `<%= %>` escapes, `<%~ %>` does not. */
export type Render = (name: string, data: object) => string;

export function makeTemplates(folder: string): Render {
  const eta = new Eta({ autoEscape: true, cache: true, views: folder });
  const known = new Set<string>();
  return (name, data) => {
    if (!known.has(name)) {
      eta.loadTemplate(`@${name}`, readFileSync(join(folder, `${name}.eta`), "utf8"));
      known.add(name);
    }
    return eta.render(`@${name}`, data);
  };
}
