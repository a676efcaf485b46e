/** Whether a host is `localhost` or a loopback address, bracketed or not. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)
