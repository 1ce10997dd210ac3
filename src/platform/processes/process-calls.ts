type Channel = {
  send?(
    message: unknown,
    sendHandle?: undefined,
    options?: undefined,
    callback?: (error: Error | null) => void,
  ): boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
  once(event: "disconnect", listener: () => void): unknown;
};

type Message =
  | { kind: "call"; id: number; name: string; given: unknown }
  | { kind: "value"; id: number; value: unknown }
  | { kind: "error"; id: number; error: unknown };

export type ProcessAnswers = Record<string, (given: never) => unknown>;

export type ProcessCall = (name: string, given?: unknown) => Promise<unknown>;

export function connectProcess(channel: Channel, answers: ProcessAnswers): ProcessCall {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;

  const send = (message: Message, onFailed: (error: Error) => void = () => undefined) =>
    channel.send?.(message, undefined, undefined, (error) => error && onFailed(error));
  async function answer({ id, name, given }: Extract<Message, { kind: "call" }>): Promise<void> {
    try {
      send({ kind: "value", id, value: await answers[name]!(given as never) });
    } catch (error) {
      send({ kind: "error", id, error });
    }
  }
  channel.on("message", (received) => {
    const message = received as Message;
    if (message.kind === "call") return void answer(message);
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === "value") call?.resolve(message.value);
    else call?.reject(message.error as Error);
  });
  channel.once("disconnect", () => {
    for (const { reject } of waiting.values()) reject(new Error("the other process has ended"));
    waiting.clear();
  });

  return (name, given) => {
    const call = Promise.withResolvers<unknown>();
    const id = ++lastId;
    waiting.set(id, call);
    send({ kind: "call", id, name, given }, (error) => {
      waiting.delete(id);
      call.reject(error);
    });
    return call.promise;
  };
}
