interface Host {
  fetch(request: Request): Response | Promise<Response>
}

/** Serves a host app on loopback. The port is open before `create` runs, so that the host knows its address. */
export const serveHost = async (create: (publicUrl: string) => Promise<Host>) => {
  const created = Promise.withResolvers<Host>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => (await created.promise).fetch(request),
  })
  const url = server.url.origin
  created.resolve(await create(url))
  return { url, stop: () => server.stop(true) }
}
