import fc from "fast-check";
import { expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import type { ImportId } from "../../src/imports/index.ts";
import { chooseNext, findPlaces, fitConnections, orderTurns, type Turn } from "../../src/imports/state/turn-order.ts";
import { walks } from "../support/walks.ts";

type Wish = { who: string; at: number; kind?: "apply"; size?: "large"; started?: boolean };

/** `who` is the school and the person: "a1" is the first person of school a. */
const makeTurn = ({ who, at, kind, size, started = false }: Wish, n: number): Turn => ({
  id: `${who}-${n}` as ImportId,
  actorId: who,
  schoolId: who[0] as SchoolId,
  isReading: kind !== "apply",
  isSmall: size !== "large",
  isStarted: started,
  queuedAt: new Date(at),
  schoolServedAt: null,
  actorServedAt: null,
});
const turnsOf = (...wishes: Wish[]) => wishes.map(makeTurn);
const idsOf = (turns: readonly Turn[]) => turns.map(({ id }) => id);

/** Removes a turn as the queue does when it ends. */
const end = (turns: readonly Turn[], done: Turn, at: number): Turn[] =>
  turns
    .filter((turn) => turn !== done)
    .map((turn) => {
      if (turn.schoolId !== done.schoolId || turn.isReading !== done.isReading) return turn;
      const ofActor = turn.actorId === done.actorId ? { actorServedAt: new Date(at) } : {};
      return { ...turn, schoolServedAt: new Date(at), ...ofActor };
    });

/** The order in which turns begin, one after the other, at one place. */
function runAll(turns: readonly Turn[]): ImportId[] {
  const begun: ImportId[] = [];
  let left = [...turns];
  for (let at = 1000; left.length > 0; at++) {
    const [next] = chooseNext(left, 1);
    begun.push(next!.id);
    const started = { ...next!, isStarted: true };
    left = end([...left.filter((turn) => turn !== next), started], started, at);
  }
  return begun;
}

test("schools take turns, within one its people, and a person's rosters keep their order", () => {
  const turns = turnsOf({ who: "a1", at: 0 }, { who: "a1", at: 1 }, { who: "a2", at: 2 }, { who: "b1", at: 3 });
  expect(idsOf(orderTurns(turns))).toEqual(["a1-0", "b1-3", "a2-2", "a1-1"]);
  expect(runAll(turns)).toEqual(["a1-0", "b1-3", "a2-2", "a1-1"]);
});

test("a small roster is not behind large ones of another school, nor an application behind what is read", () => {
  const large = { size: "large" } as const;
  const turns = turnsOf(
    { who: "a1", at: 0, started: true, ...large },
    { who: "a1", at: 1, ...large },
    { who: "c1", at: 2, ...large },
    { who: "b1", at: 3 },
    { who: "a1", at: 4, kind: "apply", ...large },
    { who: "d1", at: 5, kind: "apply" },
  );
  expect(idsOf(chooseNext(turns, 1))).toEqual(["b1-3", "a1-4", "d1-5"]);
  expect(Object.fromEntries(findPlaces(turns))).toMatchObject({ "c1-2": 1, "a1-1": 2, "b1-3": 1 });
});

test("large rosters leave connections to small ones, to the other kind and to previews", () => {
  const large = { size: "large" } as const;
  const reading = turnsOf({ who: "a1", at: 0, ...large }, { who: "b1", at: 1, ...large }, { who: "c1", at: 2 });
  const applying = turnsOf({ who: "d1", at: 3, kind: "apply", ...large }, { who: "e1", at: 4, kind: "apply" });
  const chosen = [...reading, ...applying];
  expect(idsOf(fitConnections(chosen, [], 4))).toEqual(["a1-0", "c1-2", "d1-0"]);
  expect(idsOf(fitConnections(chosen, [], 5))).toEqual(["a1-0", "b1-1", "c1-2", "d1-0"]);
  expect(idsOf(fitConnections(chosen, [], 1))).toEqual(["a1-0"]);
});

test("no school has a second turn while another one waits that came before the first turn ended", () => {
  const wish = fc.record({
    who: fc.constantFrom("a1", "a2", "b1", "b2", "c1", "d1"),
    at: fc.integer({ min: 0, max: 50 }),
  });
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 20 }), (wishes) => {
      const turns = turnsOf(...wishes);
      const begun = runAll(turns);
      expect(new Set(begun)).toEqual(new Set(idsOf(turns)));
      for (const [at, id] of begun.entries()) {
        const between = begun.slice(at + 1);
        const again = between.findIndex((other) => other[0] === id[0]);
        if (again === -1) continue;
        const missed = new Set(between.slice(again).map((other) => other[0]));
        const served = new Set(between.slice(0, again).map((other) => other[0]));
        missed.delete(id[0]);
        expect([...missed].filter((school) => !served.has(school))).toEqual([]);
      }
      for (const who of new Set(wishes.map((one) => one.who))) {
        const own = turns.filter(({ actorId }) => actorId === who).sort((a, b) => +a.queuedAt - +b.queuedAt);
        const order = begun.filter((id) => id.startsWith(who)).map((id) => turns.find((turn) => turn.id === id)!);
        expect(order.map(({ queuedAt }) => +queuedAt)).toEqual(own.map(({ queuedAt }) => +queuedAt));
      }
    }),
    walks(100, 100),
  );
});
