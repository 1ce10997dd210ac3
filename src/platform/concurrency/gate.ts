import { AppError, makeUnavailable } from "../errors.ts";
import { CallerLeft, type Caller } from "./caller.ts";

type Leave = () => void;

export type Gate = {
  admit(client: string): Leave;
  enter(client: string, caller: Caller): Promise<Leave>;
};

type GateLimits = {
  places: number;
  placesPerClient: number;
  open: number;
  openPerClient: number;
  waitMs: number;
};

type Client = { open: number; running: number; waiting: (() => void)[] };

/** Keeps a client from taking the places of others. Errors: rate_limited (429), unavailable (503); CallerLeft. */
export function makeGate(limits: GateLimits, tooMany: () => AppError = tooManyReads): Gate {
  const clients = new Map<string, Client>();
  const total = { open: 0, running: 0 };

  const find = (name: string): Client => {
    const known = clients.get(name);
    if (known !== undefined) return known;
    const client: Client = { open: 0, running: 0, waiting: [] };
    clients.set(name, client);
    return client;
  };
  const forgetIdle = (name: string, { open, running, waiting }: Client) => {
    if (open + running + waiting.length === 0) clients.delete(name);
  };
  const mayRun = (client: Client) => total.running < limits.places && client.running < limits.placesPerClient;
  const letNextIn = () => {
    for (const [name, client] of clients) {
      if (client.waiting.length === 0 || !mayRun(client)) continue;
      clients.delete(name);
      clients.set(name, client);
      client.waiting.shift()!();
      return;
    }
  };
  const start = (name: string, client: Client): Leave => {
    client.running += 1;
    total.running += 1;
    return onlyOnce(() => {
      client.running -= 1;
      total.running -= 1;
      forgetIdle(name, client);
      letNextIn();
    });
  };

  return {
    admit(name) {
      const client = find(name);
      if (client.open >= limits.openPerClient) throw tooMany();
      if (total.open >= limits.open) throw overloaded();
      client.open += 1;
      total.open += 1;
      return onlyOnce(() => {
        client.open -= 1;
        total.open -= 1;
        forgetIdle(name, client);
      });
    },
    async enter(name, caller) {
      if (caller.hasLeft()) throw new CallerLeft();
      const client = find(name);
      if (client.waiting.length === 0 && mayRun(client)) return start(name, client);
      return new Promise((resolve, reject) => {
        const stop = () => {
          clearTimeout(timer);
          off();
        };
        const enter = () => {
          stop();
          resolve(start(name, client));
        };
        const giveUp = (error: Error) => {
          stop();
          client.waiting.splice(client.waiting.indexOf(enter), 1);
          forgetIdle(name, client);
          reject(error);
        };
        const timer = setTimeout(
          () => giveUp(client.running >= limits.placesPerClient ? tooMany() : overloaded()),
          limits.waitMs,
        );
        const off = caller.onLeave(() => giveUp(new CallerLeft()));
        client.waiting.push(enter);
      });
    },
  };
}

function onlyOnce(leave: Leave): Leave {
  let left = false;
  return () => {
    if (left) return;
    left = true;
    leave();
  };
}

const rateLimited = (message: string) => new AppError("rate_limited", "too_many_requests", message);

const tooManyReads = () =>
  rateLimited("This app reads too much at the same time. Wait for answers before asking for more.");
export const tooMuchWork = (): AppError =>
  rateLimited("You have work of this kind under way already. Wait for it before asking for more.");
const overloaded = () => makeUnavailable("all places are taken");
