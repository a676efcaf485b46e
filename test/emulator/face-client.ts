import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/index.ts'
import { type Answer, answerOf, ark } from './client.ts'

export const CALLBACK = 'https://gate.test/callback/state-1'

const running: Emulator[] = []

/** Starts an emulator without rate limits; `stopAll` stops it. */
export async function start(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator(options)
  running.push(emulator)
  return emulator
}

/** Stops every emulator of `start`. */
export async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((emulator) => emulator.stop()))
}

/** Creates a session in the `ark` API. */
export async function begin(emulator: Emulator, CallbackURL: string = CALLBACK, more: object = {}) {
  const { Result } = await ark(emulator, 'CreateVisualValidateSession', { CallbackURL, ...more })
  return { token: String(Result.BytedToken), link: String(Result.H5Link) }
}

/** Requests the result of a session in the `ark` API. */
export function result(emulator: Emulator, BytedToken: string, more: object = {}, now?: number): Promise<Answer> {
  return ark(emulator, 'GetVisualValidateResult', { BytedToken, ...more }, now)
}

/** A response of face verification in the `rest` API, which has no envelope. */
export interface Told {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every form
  readonly json: any
}

/** Sends a face verification request to the `rest` API. `path`: an id after a slash, or empty. */
export async function face(
  { origin, rest }: Emulator,
  method: string,
  path = '',
  body?: string,
  key = rest.key,
): Promise<Told> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${origin}/api/media/face-verifications${path}`, { method, headers, body })
  const { status, text } = await answerOf(response)
  return { status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined }
}

/** Requests a URL as a browser does, but does not follow redirects. */
export async function open(link: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(link, { method, headers, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Submits the form of the page with one of its buttons. */
export async function press(link: string, name: string, headers: Record<string, string> = {}) {
  const body = new URLSearchParams({ do: name })
  const response = await fetch(link, { method: 'POST', headers, body, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
