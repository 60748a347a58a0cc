// Asks the server, hears when something changed, and comes back when the connection was lost.

const FIRST_RETRY = 1000;
const LAST_RETRY = 15_000;

/** The server does not know this page (any more). */
export class Ended extends Error {}

/** Get a document; null where there is none. */
export async function get(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  if (answer.status === 401) throw new Ended();
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}

/**
 * Keep a page up to date.
 *
 * The browser would reconnect by itself, but not after every kind of end, and without telling when.
 */
export class Connection {
  #source = null;
  #timer = 0;
  #delay = FIRST_RETRY;
  #looking = false;
  #wanted = false;

  /**
   * @param {function(): Promise<void>} look Gets and shows everything.
   * @param {function(string, number): void} tell Hears `live`, `lost` (with the milliseconds to
   *     the next try) or `ended`.
   */
  constructor(look, tell) {
    this.look = look;
    this.tell = tell;
  }

  /** Look now, and whenever something changed; one look at a time. */
  async refresh() {
    if (this.#looking) {
      this.#wanted = true;
      return;
    }
    this.#looking = true;
    try {
      await this.look();
      this.#listen();
    } catch (error) {
      this.#lose(error);
    } finally {
      this.#looking = false;
    }
    if (this.#wanted) {
      this.#wanted = false;
      this.refresh();
    }
  }

  /**
   * Hear nothing until the next `refresh`.
   *
   * A browser has six connections to a server, for all of its windows together: those that nobody
   * looks at must not take them from the others.
   */
  rest() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #listen() {
    clearTimeout(this.#timer);
    if (this.#source || document.hidden) return;
    this.#source = new EventSource("api/events");
    this.#source.addEventListener("open", () => {
      this.#delay = FIRST_RETRY;
      this.tell("live", 0);
    });
    // The first one comes at once: something may have changed since the look.
    this.#source.addEventListener("changed", () => this.refresh());
    this.#source.addEventListener("error", () => this.#lose(null));
  }

  #lose(error) {
    this.rest();
    this.#wanted = false;
    if (error instanceof Ended) {
      this.tell("ended", 0);
      return;
    }
    if (error !== null && !(error instanceof TypeError)) console.error(error);
    this.tell("lost", this.#delay);
    this.#timer = setTimeout(() => this.refresh(), this.#delay);
    this.#delay = Math.min(2 * this.#delay, LAST_RETRY);
  }
}
