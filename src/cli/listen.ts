import type { EventType } from "../webhooks/index.ts";
import { makeApiCommand } from "./command.ts";
import { option, required, UsageError } from "./option.ts";

const eventTypes = ["person", "group", "school"] as const satisfies EventType[];
const longestReplay = 100;

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "") return url;
  throw new UsageError(`--forward-to: '${text}' is not an address such as http://localhost:4100/hook.`);
}

export const listen = makeApiCommand({
  summary:
    "Forward the webhooks of an app to a machine without a public address, such as your own. Stop it with Ctrl-C.",
  options: {
    app: required(option.text("The client id of the app.", "client-id")),
    forwardTo: required(option.text("Where each is sent, such as http://localhost:4100/hook.", "url")),
    type: option.someOf(eventTypes, "Event types to send; all if left out."),
    continue: option.id("The id of a listening endpoint that was stopped less than 15 minutes ago; its secret stays."),
    replay: option.text("First send a delivery that the app got before, at whichever endpoint.", "delivery"),
    replayLast: option.count(`First send so many of the last deliveries of the app, at most ${longestReplay}.`),
  },
  remoteOnly: "It makes the deliveries.",
  run: async (service, { options }) => {
    const { app, forwardTo, type, replay, replayLast } = options;
    const last = replayLast === 0 ? undefined : replayLast;
    if (last !== undefined && last > longestReplay) throw new UsageError(`--replay-last is at most ${longestReplay}.`);
    if (replay !== undefined && last !== undefined) throw new UsageError("Give --replay or --replay-last, not both.");
    if (replay !== undefined && !/^[1-9]\d{0,17}$/.test(replay))
      throw new UsageError(`--replay: '${replay}' is not a delivery number.`);
    if (options.continue !== undefined && type !== undefined)
      throw new UsageError("--type cannot be combined with --continue. Change the types with webhook update.");
    const url = readUrl(forwardTo);
    const { listenTo } = await import("./listen-loop.ts");
    const listening = { clientId: app, url, eventTypes: type ?? [...eventTypes], endpointId: options.continue };
    return listenTo(service, {
      ...listening,
      replay: replay === undefined ? (last === undefined ? undefined : { last }) : { deliveryId: replay },
    });
  },
});
