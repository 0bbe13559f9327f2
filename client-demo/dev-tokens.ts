import { SignJWT } from 'jose'
import type { Plugin } from 'vite'

/**
 * An example of a token endpoint, for the development server: with `AUTH_JWT_SECRET` set (the same as the server's), the page
 * fetches a token for its room from `/dev-token` before every connection. A real one would first see who is asking.
 */
export function devTokens(secret = process.env.AUTH_JWT_SECRET ?? ''): Plugin {
  const key = new TextEncoder().encode(secret)
  return {
    name: 'dev-tokens',
    apply: 'serve',
    transformIndexHtml: () =>
      secret === '' ? [] : [{ tag: 'meta', attrs: { name: 'y-weir-token-url', content: '/dev-token' } }],
    configureServer(server) {
      if (secret === '') return
      server.middlewares.use('/dev-token', async (request, response) => {
        const room = new URL(request.url ?? '/', 'http://page').searchParams.get('room') ?? ''
        const token = await new SignJWT({ rooms: [room], access: 'write' })
          .setProtectedHeader({ alg: 'HS256' })
          .setSubject('developer')
          .setIssuedAt()
          .setExpirationTime('5 minutes')
          .sign(key)
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ token }))
      })
    },
  }
}
