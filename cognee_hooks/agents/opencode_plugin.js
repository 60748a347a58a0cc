// cognee-hooks plugin for OpenCode; installed by "cognee-hooks install opencode"
// Hands events to the thin client, one process each, and puts what comes back into the system prompt of the turn.
// Whatever fails here has to leave OpenCode as it would be without us.
import { spawn } from "node:child_process";
const LAUNCHER = [];
const SECONDS = { user_prompt: 8, session_end: 8, other: 4 };
const MAX_TEXT = 64 * 1024; // characters of one text
const [MAX_MESSAGES, MAX_SAID] = [40, 16 * 1024]; // of what a compaction drops, and characters of one
const MAX_ANSWER = 1024 * 1024;

const clip = (_, value) => (typeof value === "string" ? value.slice(0, MAX_TEXT) : value);
/** The text that a person or the model wrote, without files, reasoning and what OpenCode added. */
const textOf = (parts) =>
  (parts ?? []).flatMap((part) => (part?.type === "text" && !part.synthetic && part.text ? part.text : [])).join("\n");

/** Runs the thin client and returns the answer's document, or nothing. */
const run = (event, payload) =>
  new Promise((done) => {
    const [python, ...rest] = LAUNCHER;
    const child = spawn(python, [...rest, "opencode", event, "{}"], { stdio: ["pipe", "pipe", "ignore"] });
    let answer = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), (SECONDS[event] ?? SECONDS.other) * 1000);
    const end = () => {
      clearTimeout(timer);
      try {
        done(JSON.parse(answer));
      } catch {
        done(undefined);
      }
    };
    child.on("error", end).on("close", end);
    child.stdout.setEncoding("utf8").on("data", (text) => {
      if (answer.length < MAX_ANSWER) answer += text;
    });
    child.stdin.on("error", () => undefined).end(JSON.stringify(payload, clip));
  });

export const CogneeHooks = async ({ client, directory }) => {
  // An OpenCode that works for us must not be captured in turn.
  if (!LAUNCHER.length || process.env.COGNEE_HOOKS_NESTED || process.platform === "win32") return {};
  const parents = new Map(); // of sub-agents' sessions
  const contexts = new Map(); // what the model is told in the running turn, by session
  const turns = new Map(); // id of the running turn, by session
  const live = new Set(); // sessions that have not been deleted
  const running = new Set(); // what OpenCode does not wait for

  /** Passes an event on. A sub-agent's belongs to the session of the agent that started it. */
  const send = async (event, sessionID, fields = {}) => {
    const parent = parents.get(sessionID);
    const inside = parent ? { agentID: sessionID } : {};
    const turnID = turns.get(sessionID);
    if (!parent) live.add(sessionID);
    return run(event, { sessionID: parent ?? sessionID, cwd: directory, turnID, ...inside, ...fields });
  };
  const answerOf = async (sessionID) => {
    const { data } = await client.session.messages({ path: { id: sessionID } });
    const last = (data ?? []).at(-1);
    return last?.info?.role === "assistant" ? textOf(last.parts) : "";
  };
  /** What was said since the last summary. */
  const saidIn = async (sessionID) => {
    const { data } = await client.session.messages({ path: { id: sessionID } });
    const since = (data ?? []).slice((data ?? []).findLastIndex(({ info }) => info?.summary === true) + 1);
    return since
      .map(({ info, parts }) => ({ role: info?.role, text: textOf(parts).slice(0, MAX_SAID) }))
      .filter(({ text }) => text.trim())
      .slice(-MAX_MESSAGES);
  };
  const onEvent = {
    "session.created": async ({ info }) => {
      if (info.parentID) parents.set(info.id, parents.get(info.parentID) ?? info.parentID);
      else if (!live.has(info.id)) await send("session_start", info.id);
    },
    "session.idle": async ({ sessionID }) => {
      if (!turns.has(sessionID)) return; // no turn of ours
      await send("turn_end", sessionID, { text: await answerOf(sessionID) });
      turns.delete(sessionID);
      contexts.delete(sessionID);
    },
    "session.deleted": async ({ info }) => {
      if (parents.delete(info.id)) return;
      await send("session_end", info.id);
      live.delete(info.id);
    },
  };
  /** A hook of ours, which never fails: nobody is there to be told, and the agent must not be disturbed. */
  const quiet =
    (hook) =>
    (...given) => {
      const work = hook(...given).catch(() => undefined);
      running.add(work);
      return work.finally(() => running.delete(work));
    };
  return {
    event: quiet(async ({ event }) => onEvent[event.type]?.(event.properties)),
    dispose: async () => {
      await Promise.all(running);
      await Promise.all([...live].map((sessionID) => send("session_end", sessionID)));
    },
    "chat.message": quiet(async ({ sessionID }, { message, parts }) => {
      // Nothing says that a session is taken up again.
      if (!parents.has(sessionID) && !live.has(sessionID)) await send("session_start", sessionID, { resumed: true });
      turns.set(sessionID, message?.id ?? "");
      contexts.delete(sessionID);
      const answer = await send("user_prompt", sessionID, { prompt: textOf(parts) });
      if (answer?.context) contexts.set(sessionID, answer.context);
    }),
    "experimental.chat.system.transform": quiet(async ({ sessionID }, { system }) => {
      if (contexts.has(sessionID)) system.push(contexts.get(sessionID));
    }),
    "tool.execute.after": quiet(async ({ tool, sessionID, callID, args }, { output }) => {
      await send("tool_result", sessionID, { tool, callID, args, output });
    }),
    "experimental.session.compacting": quiet(async ({ sessionID }) => {
      await send("pre_compact", sessionID, { messages: await saidIn(sessionID).catch(() => []) });
    }),
  };
};
