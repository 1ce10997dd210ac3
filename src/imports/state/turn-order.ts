import type { SchoolId } from "../../directory/index.ts";
import type { ImportId } from "./record.ts";

/** `schoolServedAt`: when a turn of the same school last ended while this one waited; null if none did. */
export type Turn = {
  id: ImportId;
  actorId: string;
  schoolId: SchoolId | null;
  /** Whether it is read; else it is applied or undone. */
  isReading: boolean;
  isSmall: boolean;
  isStarted: boolean;
  queuedAt: Date;
  schoolServedAt: Date | null;
  actorServedAt: Date | null;
};

const schoolOf = ({ schoolId, actorId }: Turn): string => schoolId ?? actorId;
const ofSameKind = (one: Turn) => (other: Turn) => one.isReading === other.isReading;
const inSameLane = (one: Turn) => (other: Turn) => ofSameKind(one)(other) && one.isSmall === other.isSmall;

type Placed = { turn: Turn; round: number; since: number };
const inOrder = (one: Placed, other: Placed): number =>
  one.round - other.round || one.since - other.since || (one.turn.id < other.turn.id ? -1 : 1);

/**
 * Gives each school or person one turn in the first round, and a second one in the next. With a turn that has started,
 * they begin a round later; after a turn that has ended, they wait for all that were queued before it ended.
 */
function goRound(
  waiting: readonly Turn[],
  started: readonly Turn[],
  { by, servedAt }: { by: (turn: Turn) => string; servedAt: (turn: Turn) => Date | null },
): Turn[] {
  const rounds = new Map<string, number>();
  const next = (turn: Turn): number => {
    const round = rounds.get(by(turn)) ?? 0;
    rounds.set(by(turn), round + 1);
    return round;
  };
  for (const turn of started) next(turn);
  const placed = waiting.map((turn) => {
    const since = Math.max(turn.queuedAt.getTime(), servedAt(turn)?.getTime() ?? 0);
    return { turn, round: next(turn), since };
  });
  return placed.sort(inOrder).map(({ turn }) => turn);
}

/** The waiting turns in order: schools take turns, and within a school its people do. */
export function orderTurns(turns: readonly Turn[]): Turn[] {
  return [true, false].flatMap((isReading) => {
    const ofKind = turns.filter((turn) => turn.isReading === isReading);
    const started = ofKind.filter(({ isStarted }) => isStarted);
    const waiting = ofKind
      .filter(({ isStarted }) => !isStarted)
      .map((turn) => ({ turn, round: 0, since: turn.queuedAt.getTime() }))
      .sort(inOrder)
      .map(({ turn }) => turn);
    const byPerson = goRound(waiting, started, {
      by: (turn) => `${schoolOf(turn)} ${turn.actorId}`,
      servedAt: ({ actorServedAt }) => actorServedAt,
    });
    return goRound(byPerson, started, { by: schoolOf, servedAt: ({ schoolServedAt }) => schoolServedAt });
  });
}

/** The place of each that waits, among those of its lane. */
export function findPlaces(turns: readonly Turn[]): Map<ImportId, number> {
  const order = orderTurns(turns);
  return new Map(order.map((turn) => [turn.id, order.filter(inSameLane(turn)).indexOf(turn) + 1]));
}

/** Reading and applying, each of small and of large rosters, have `atOnce` places of their own. */
export function chooseNext(turns: readonly Turn[], atOnce: number): Turn[] {
  const started = turns.filter(({ isStarted }) => isStarted);
  const chosen: Turn[] = [];
  const passedOver: Turn[] = [];
  for (const turn of orderTurns(turns)) {
    const present = [...started, ...chosen].filter(ofSameKind(turn));
    const isOfSame = (other: Turn) => other.actorId === turn.actorId || other.schoolId === (turn.schoolId ?? "none");
    const waits =
      turn.isReading && (present.some(isOfSame) || passedOver.some((other) => other.actorId === turn.actorId));
    if (!waits && present.filter(inSameLane(turn)).length < atOnce) chosen.push(turn);
    else if (turn.isReading) passedOver.push(turn);
  }
  return chosen;
}

/**
 * Those of `chosen` for which this process has connections: each uses one, one is for previews, and large rosters leave
 * one to small ones and one to the other kind.
 */
export function fitConnections(chosen: readonly Turn[], running: readonly Turn[], connections: number): Turn[] {
  const present = [...running];
  const fits = (turn: Turn): boolean =>
    present.length < Math.max(1, connections - 1) &&
    present.filter(inSameLane(turn)).length < Math.max(1, connections - 3) &&
    (turn.isSmall || present.filter(({ isSmall }) => !isSmall).length < Math.max(1, connections - 2));
  return chosen.filter((turn) => fits(turn) && present.push(turn) > 0);
}
