// For `node --import`: in this process the machine's clock is wrong by CLOCK_OFFSET_SECONDS.
const offsetMs = Number(process.env["CLOCK_OFFSET_SECONDS"]) * 1000;
const { now } = Date;
Date.now = () => now() + offsetMs;
globalThis.Date = new Proxy(Date, {
  apply: () => new Date().toString(),
  construct: (target, given: [], newTarget: typeof Date) =>
    Reflect.construct(target, given.length === 0 ? [now() + offsetMs] : given, newTarget) as Date,
});
