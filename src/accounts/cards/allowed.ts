import ipaddr from "ipaddr.js";
import { readAddress } from "../../platform/server/client-address.ts";
import type { CardSettings } from "./settings.ts";

export type CardRefusal = "disabled" | "grade" | "hours" | "network";

type Use = { grade: number | null; at: Date; address: string };

/** Returns why the cards of a school do not sign this person in; null if they do. */
export function findCardRefusal(settings: CardSettings, { grade, at, address }: Use): CardRefusal | null {
  if (!settings.enabled) return "disabled";
  if (!isCardGrade(settings, grade)) return "grade";
  if (!isCardNetwork(settings, address)) return "network";
  return isCardTime(settings, at) ? null : "hours";
}

export const isCardGrade = ({ grades }: Pick<CardSettings, "grades">, grade: number | null): boolean =>
  grades === null || (grade !== null && grades.includes(grade));

function isCardNetwork({ networks }: CardSettings, text: string): boolean {
  if (networks.length === 0) return true;
  const read = readAddress(text);
  if (read === null) return false;
  const address = ipaddr.parse(read);
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === address.kind() && address.match(base, bits);
  });
}

const clock = new Intl.DateTimeFormat("en-GB", {
  timeZone: "Europe/Berlin",
  ...({ weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const),
});
const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

function isCardTime({ hours }: CardSettings, at: Date): boolean {
  if (hours === null) return true;
  const parts = new Map(clock.formatToParts(at).map(({ type, value }) => [type, value]));
  const time = `${parts.get("hour")}:${parts.get("minute")}`;
  const weekday = weekdays.indexOf(parts.get("weekday") ?? "") + 1;
  return hours.weekdays.includes(weekday) && hours.from <= time && time < hours.to;
}
