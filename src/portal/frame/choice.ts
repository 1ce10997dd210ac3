import type { PageRequest } from "./page-request.ts";
import { readChosen } from "./choices.ts";
import { refuseField } from "./refused.ts";

/** The boxes below the radio buttons of a field: for each button that has some, their name. */
type Boxes<Kind extends string> = Readonly<Partial<Record<Kind, string>>>;

/**
 * Decides which radio button counts: ticking a box selects the button that it belongs to.
 *
 * The button that was selected when the form was shown (its field `shown-<name>`) gives way to the ticked boxes of
 * another. If both were chosen by hand, the form is refused.
 * Errors: Refused choice_contradicts.
 */
export function readChoice<Kind extends string>(
  request: Pick<PageRequest, "field" | "typed">,
  name: string,
  { selected, boxes, nobody }: { selected: Kind; boxes: Boxes<Kind>; nobody?: Kind },
): Kind {
  const ticked = (Object.entries(boxes) as [Kind, string][])
    .filter(([, box]) => readChosen(request, box).length > 0)
    .map(([kind]) => kind);
  const others = ticked.filter((kind) => kind !== selected);
  const isByHand = !["", selected].includes(request.field(`shown-${name}`));
  const isComplete = selected === nobody || ticked.includes(selected);
  if (others.length === 0 || (isByHand && isComplete)) return selected;
  if (isByHand || ticked.length > 1) throw refuseField(name, "choice_contradicts");
  return others[0]!;
}
