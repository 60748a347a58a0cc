// cognee-hooks extension for pi; installed by "cognee-hooks install pi"
// One file for every pi since 0.73.1. It hands events to the daemon, where the thinking is done, and does what
// comes back. Whatever fails here has to leave pi as it would be without us.
import { spawn } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
const LAUNCHER: string[] = [];
const VERSION = "0.1.0";
const KEY = "cognee-memory"; // of our messages and our status text
const [MAX_TEXT, MAX_LINE] = [64 * 1024, 32 * 1024 * 1024]; // characters of one text, bytes of one line
const [MAX_MESSAGES, MAX_SAID] = [40, 16 * 1024]; // of what a compaction drops, and characters of one
const SECONDS = { start: 5, boot: 3, prompt: 10, tool: 65, command: 3700, shutdown: 2, spool: 1, rest: 60 };
type Fields = Record<string, any>; // events and messages, whose shapes differ between releases
type Turn = { promptId: string; text: string; announced: boolean; failed: boolean };
type Later<T> = Promise<T | undefined>;
const sleep = (seconds: number) => new Promise<void>((done) => setTimeout(done, seconds * 1000).unref());
/** The value of `work`, or undefined if it fails or takes longer. Only this timer keeps pi from exiting. */
const within = <T>(seconds: number, work: Later<T>): Later<T> => new Promise((done) => {
  const timer = setTimeout(done, seconds * 1000, undefined);
  void work.then(done, () => done(undefined)).finally(() => clearTimeout(timer));
});
const clip = (_: string, value: unknown) => (typeof value === "string" ? value.slice(0, MAX_TEXT) : value);
const encode = (message: Fields) => Buffer.from(`${JSON.stringify(message, clip)}\n`);
/** The text of a message or a result, without images, thinking and tool calls. */
const textOf = (content: unknown): string => (Array.isArray(content) ? content : [{ type: "text", text: content }])
  .flatMap((part: Fields) => (part?.type === "text" && typeof part.text === "string" ? part.text : [])).join("\n");
/** The options that a command's help names, in place of the last word where that begins like one. */
const completions = (help: string, typed: string) => {
  const [before, word] = [typed.slice(0, typed.lastIndexOf(" ") + 1), typed.slice(typed.lastIndexOf(" ") + 1)];
  return [...new Set(help.match(/--[a-z-]+/g))]
    .filter((each) => word.startsWith("-") && each.startsWith(word) && !before.includes(`${each} `))
    .map((each) => ({ value: before + each, label: each }));
};
function connect(): Socket {
  const state = process.env.COGNEE_HOOKS_STATE_DIR?.trim() || "~/.cognee-plugin/hooks";
  const folder = join(resolve(homedir(), state.replace(/^~(?=\/|$)/, homedir())), "daemon");
  const [{ uid, mode }, path] = [statSync(folder), join(folder, "socket")];
  if (uid !== process.getuid?.() || mode & 0o022) throw new Error("somebody else could listen there");
  if (Buffer.byteLength(path) <= 100) return createConnection(path);
  const handle = openSync(folder, "r"); // the address of a socket has to be short
  return createConnection(`/proc/self/fd/${handle}/socket`).once("close", () => closeSync(handle));
}

export default function cognee(pi: ExtensionAPI): void {
  // A pi that works for us must not capture its own work; any other nested one is the user's, like this.
  if (!LAUNCHER.length || process.env.COGNEE_HOOKS_NESTED || !process.getuid) return;
  let [ctx, session, turn, socket]: [ExtensionContext?, Fields?, Turn?, Socket?] = [];
  let [spooling, connecting]: [Promise<void>, Promise<void>?] = [Promise.resolve()];
  let [off, registered, restUntil, count] = [false, false, 0, 0];
  const waiting = new Map<number, (reply?: Fields) => void>();
  const calls = new Map<string, { input: unknown; began: number }>();
  const unique = () => `${`${Date.now()}000000`.padStart(20, "0")}-${process.pid}-${++count}`;

  /** Runs the thin client: it passes an event on, or starts a daemon and keeps the event for it. */
  const launch = (event: string, payload: Fields = {}) => new Promise<void>((done) => {
    const [python = "", ...rest] = [...LAUNCHER, "pi", event];
    const child = spawn(python, rest, { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", () => done()).on("exit", () => done()).unref();
    (child.stdin as Socket).on("error", () => undefined).end(encode(payload)).unref();
  }).catch(() => undefined);
  /** Opens a channel, lines of JSON both ways; it counts once the daemon has greeted. */
  const open = (seconds: number) => new Promise<void>((done) => {
    const variables = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
    const fields = [unique(), "pi", session?.sessionId, process.pid, session?.cwd, "", ...variables].join("\0");
    const fresh = connect().unref();
    let held = "";
    const take = (line: string): boolean => {
      try {
        off ||= line === "-";
        const message: Fields = JSON.parse(line);
        if (message.hello) [socket] = [fresh, done()];
        return socket === fresh && (heard(message), true);
      } catch {
        return false;
      }
    };
    fresh.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = chunk.split("\n"); // readline would also split at line ends that JSON allows inside of texts
      lines[0] = held + lines[0];
      held = lines.pop() ?? "";
      if (!lines.every(take) || held.length > MAX_LINE) fresh.destroy();
    });
    fresh.on("error", () => undefined);
    fresh.on("close", () => (socket === fresh && waiting.forEach((settle) => settle()), done()));
    void sleep(seconds).then(() => socket === fresh || fresh.destroy());
    fresh.write(`cognee-hooks ${VERSION} channel ${Buffer.byteLength(fields)}\n${fields}`);
  }).catch(() => undefined);

  /** Opens a channel where there is none, and waits so many seconds for a daemon to start. */
  async function establish(seconds: number): Promise<void> {
    const until = Date.now() + seconds * 1000;
    for (let first = true; !socket?.writable && !off; first = false, await sleep(0.05)) {
      const once = !seconds || Date.now() < restUntil;
      await open(once ? 0.5 : Math.max(0.5, (until - Date.now()) / 1000));
      if (socket?.writable || once || off) return;
      if (first) void launch("start");
      // A daemon that cannot start must not hold up every prompt.
      if (Date.now() >= until) return void (restUntil = Date.now() + SECONDS.rest * 1000);
    }
  }

  function send(message: Fields): boolean {
    const line = encode(message);
    if (socket && socket.writableLength > MAX_LINE) socket.destroy(); // nobody reads
    return !!socket?.writable && line.length <= MAX_LINE && (socket.write(line), true);
  }
  /** Returns the reply; undefined where none will come. */
  async function request(message: Fields, boot: number, signal?: AbortSignal): Later<Fields> {
    if (!socket?.writable) await (connecting ??= establish(boot).finally(() => (connecting = undefined)));
    const id = ++count;
    return new Promise((settle) => {
      waiting.set(id, (reply) => (waiting.delete(id), settle(reply)));
      signal?.addEventListener("abort", () => waiting.has(id) && send({ cancel: id }));
      if (signal?.aborted || !send({ id, ...message })) waiting.get(id)?.();
    });
  }

  /** Passes an event on and returns the answer. What the daemon does not answer is left to the thin client. */
  async function deliver(event: string, more: Fields, boot = 0): Promise<Fields> {
    const payload: Fields = { eventId: unique(), ...session, promptId: turn?.promptId, ...more };
    const reply = off || !session ? {} : await request({ event, payload }, boot).catch(() => undefined);
    if (!reply && !off && event !== "session_shutdown") spooling = spooling.then(() => launch(event, payload));
    if (reply?.answer?.notice) show(reply.answer.notice, "warning");
    return reply?.answer ?? {};
  }

  async function call(what: Fields, seconds: number, signal?: AbortSignal): Promise<Fields> {
    const stopped = new Promise<undefined>((stop) => signal?.addEventListener("abort", () => stop(undefined)));
    const reply = await within(seconds, Promise.race([stopped, request(what, SECONDS.boot, signal)]));
    if (typeof reply?.text === "string") return reply;
    throw new Error(reply?.error ?? "Cognee memory does not answer; pi itself is unaffected.");
  }
  /** Shows a line; without an interface it goes where nobody takes it for the model's answer. */
  const show = (text: string, level: "info" | "warning" | "error") =>
    void (ctx?.hasUI ? ctx.ui.notify(text, level) : process.stderr.write(`${text}\n`));
  function heard(message: Fields): void {
    const { id, hello, notice, status = hello?.status, ask, kind, title, text, options, seconds } = message;
    if (id) return waiting.get(id)?.(message);
    if (hello && !registered) registered = (register(hello), true);
    const shown = ctx?.hasUI || (notice?.level !== "info" && !notice?.screen);
    if (typeof notice?.text === "string" && shown) show(notice.text, notice.level);
    if (typeof status === "string") ctx?.ui.setStatus(KEY, status || undefined);
    const [ui, limit] = [ctx?.ui, { timeout: seconds * 1000 }];
    const asked = async () => kind === "select" ? ui?.select(title, options, limit) : ui?.confirm(title, text, limit);
    if (ask) void asked().catch(() => undefined).then((value) => send({ reply: ask, value }));
  }

  function register({ tools, commands }: Fields): void {
    for (const { name, description, parameters } of tools) pi.registerTool({ name, label: name, description, parameters,
      execute: async (_id: string, given: unknown, signal?: AbortSignal) => {
        const { text } = await call({ tool: name, arguments: given }, SECONDS.tool, signal);
        return { content: [{ type: "text", text }], details: {} };
      } });
    for (const { name, help } of commands) pi.registerCommand(name, {
      description: help,
      getArgumentCompletions: (typed) => completions(help, typed),
      handler: (rest) => call({ command: name, arguments: rest }, SECONDS.command)
        .then(({ text, level = "info" }) => show(text, level), (error) => show(error.message, "error")) });
  }

  const on = (name: string, handler: (event: Fields, now: ExtensionContext) => unknown) =>
    (pi as Fields).on(name, (event: Fields, now: ExtensionContext) => // a fault looks as if we had not been asked
      Promise.resolve().then(() => handler(event, (ctx = now))).catch(() => undefined));
  const settle = (event: string) => void (turn && deliver(event, { text: turn.text }), turn = undefined);
  /** Begins a turn; one that is still open failed for good, or has its answer as far as there will be one. */
  const begin = (announced: boolean) =>
    void (settle("agent_end"), turn = { promptId: unique(), text: "", announced, failed: false });

  on("session_start", async ({ reason }, { sessionManager, cwd, model }) => {
    const sessionId = sessionManager.getSessionId();
    if (session?.sessionId === sessionId) return; // releases before 1.6.0 may say it twice
    session = { sessionId, cwd, sessionFile: sessionManager.getSessionFile() };
    const resumed = sessionManager.getEntries().some((entry) => entry.type === "message");
    await within(SECONDS.start, deliver("session_start", { reason, resumed, model: model?.id }, SECONDS.start));
  });
  on("before_agent_start", async ({ prompt, messageType }) => {
    begin(messageType !== "custom");
    const work = deliver("before_agent_start", { prompt, messageType }, SECONDS.boot);
    const answer = messageType === "custom" ? {} : await within(SECONDS.prompt, work);
    if (!answer) socket?.destroy(); // silent for so long, it will not come back
    return answer?.context && { message: { customType: KEY, content: answer.context, display: false } };
  });
  on("message_end", ({ message: { role, content, stopReason } }) => {
    if (turn && role === "assistant") [turn.text, turn.failed] = [textOf(content) || turn.text, stopReason === "error"];
    if (role !== "user" || turn?.announced) return void (turn && role === "user" && (turn.announced = false));
    begin(false);
    void deliver("message_end", { prompt: textOf(content) });
  });
  on("tool_execution_start", ({ toolCallId, args }) => void calls.set(toolCallId, { input: args, began: Date.now() }));
  on("tool_execution_end", ({ toolCallId, toolName, result, isError }) => {
    const { input, began } = calls.get(toolCallId) ?? { input: {}, began: 0 };
    const durationMs = calls.delete(toolCallId) ? Date.now() - began : undefined;
    const output = textOf(result?.content);
    void deliver("tool_execution_end", { toolCallId, toolName, input, isError, output, durationMs });
  });
  // Newer releases say agent_settled in the end; in those without ctx.mode a failed run may be tried again.
  on("agent_end", (_event, now) => "mode" in now || turn?.failed || settle("agent_end"));
  on("agent_settled", () => settle("agent_settled"));
  on("session_before_compact", ({ preparation, branchEntries, reason, customInstructions }) => {
    const lists = [preparation.messagesToSummarize, preparation.turnPrefixMessages];
    for (const list of lists)
      list.splice(0, list.length, ...list.filter((each: Fields) => each.customType !== KEY)); // or it is the user's
    // A short session may be summarised without any message being named.
    const dropped = lists.flat().length ? lists.flat() : branchEntries.flatMap((entry: Fields) => entry.message ?? []);
    const messages = dropped.map(({ role, content }: Fields) => ({ role, text: textOf(content).slice(0, MAX_SAID) }))
      .filter(({ role, text }: Fields) => /^(user|assistant)$/.test(role) && text.trim()).slice(-MAX_MESSAGES);
    void deliver("session_before_compact", { reason, customInstructions, messages });
  });
  on("session_compact", () => void deliver("session_compact", {}));
  on("session_shutdown", async ({ reason }) => {
    settle("agent_end");
    await within(SECONDS.shutdown, deliver("session_shutdown", { reason }));
    socket?.destroy(); // what it has not answered goes to the thin client
    await within(SECONDS.spool, sleep(0.01).then(() => spooling));
  });
}
