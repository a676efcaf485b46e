import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { folderStorage } from 'sluice/file-storage'
import { temporaryFolder } from '../file-storage/fixture.ts'
import { openVideoFixture, type VideoFixture, type VideoFixtureOptions } from '../video-generation/fixture.ts'

/** A client of the protocol, of one user. */
export interface McpClient extends AsyncDisposable {
  readonly client: Client
  /** The names of the tools that it sees. */
  names(): Promise<readonly string[]>
  /** Calls a tool. Resolves with the JSON of its result. */
  call(name: string, input?: object, options?: CallOptions): Promise<ToolReply>
}

export interface CallOptions {
  readonly onprogress?: (progress: { readonly progress: number; readonly message?: string }) => void
  readonly signal?: AbortSignal
}

// biome-ignore lint/suspicious/noExplicitAny: tests read results of every shape
export type ToolReply = Readonly<Record<string, any>> & { readonly isError: boolean }

export interface ConnectOptions {
  /** Protocol version 2026-07-28, which has no sessions, or the handshake of the versions before. */
  readonly era: 'modern' | 'legacy'
  /** What the person answers in a dialog. Default: the client has none. */
  readonly answer?: (message: string) => { readonly action: string; readonly content?: object }
  readonly headers?: Readonly<Record<string, string>>
}

export const eras = ['modern', 'legacy'] as const

/** Connects the SDK's own client. */
export const connectMcp = async (
  url: string,
  token: string,
  { era, answer, headers }: ConnectOptions,
): Promise<McpClient> => {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: answer ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    },
  )
  if (answer)
    client.setRequestHandler('elicitation/create', async ({ params }) => answer(params.message) as { action: 'accept' })
  const requestInit = { headers: headers ?? { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, input = {}, options = {}) {
      const { isError = false, content } = await client.callTool({ name, arguments: { ...input } }, options)
      const [item] = content
      if (item?.type !== 'text') throw new Error('the result has no text')
      return { ...JSON.parse(item.text), isError }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** A gateway with a storage, whose upstream runs videos until `emulator.video.finish`. */
export interface McpFixture extends VideoFixture {
  /** Connects a client of a user. */
  connect(user: { readonly token: string }, options?: Partial<ConnectOptions>): Promise<McpClient>
}

export const openMcpFixture = async ({ more, ...options }: VideoFixtureOptions = {}): Promise<McpFixture> => {
  const folder = await temporaryFolder()
  const fixture = await openVideoFixture({
    ...options,
    more: { files: { storage: folderStorage(folder.path) }, ...more },
  })
  return {
    ...fixture,
    connect: ({ token }, { era = 'modern', ...how } = {}) => connectMcp(fixture.gateway.url, token, { era, ...how }),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** A picture of one pixel. */
export const png = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==',
)
