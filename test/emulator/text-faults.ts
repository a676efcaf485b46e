import { afterAll, afterEach, beforeAll } from 'bun:test'
import { type Emulator, startEmulator, type TextFaultKind } from '../../src/emulator/index.ts'
import { chat, clientOf, MODEL, post, wire } from './text-client.ts'

/** The emulator of the running test file, see `useEmulator`. */
export let emulator: Emulator

/** Starts the emulator before the tests of a file, and removes faults and recorded calls after each. */
export const useEmulator = (): void => {
  beforeAll(async () => {
    emulator = await startEmulator()
  })
  afterEach(() => {
    emulator.faults.clear()
    emulator.clearCalls()
  })
  afterAll(() => emulator.stop())
}

export const STREAM = chat('hello 世界', { stream: true, stream_options: { include_usage: true } })
export const RESPONSE = { model: MODEL, input: 'hello 世界', stream: true }
export const chatWire = () => wire(emulator, '/chat/completions', STREAM)
export const nonStreamingWire = () => wire(emulator, '/chat/completions', chat('hello'))
export const responseWire = (body: object = RESPONSE) => wire(emulator, '/responses', body)
/** The number of places in a text. */
export const count = (text: string, part: string | RegExp) => text.split(part).length - 1

/** The content that the official client reads from a stream under a fault. */
export const contentUnder = async (fault: TextFaultKind) => {
  emulator.faults.add(fault)
  const client = clientOf(emulator)
  let content = ''
  const stream = await client.chat.completions.create({
    model: MODEL,
    messages: [{ role: 'user', content: 'hello 世界' }],
    stream: true,
  })
  for await (const chunk of stream) content += chunk.choices?.[0]?.delta?.content ?? ''
  return content
}

/** The same content without a fault. */
export const normalContent = async () =>
  (await post(emulator, '/chat/completions', chat('hello 世界'))).json.choices[0].message.content
