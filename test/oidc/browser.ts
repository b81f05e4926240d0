/** As much of a browser as the login pages need: cookies by path, redirects one by one, forms with hidden fields. */
export class Browser {
  readonly #cookies = new Map<string, { value: string; path: string }>();

  /** Follows redirects until a page answers or one leads to `stopAt`; gives that page or that address. */
  async visit(
    address: string,
    stopAt: string,
    init: RequestInit = {},
  ): Promise<{ response: Response; url: URL; html: string }> {
    let url = new URL(address);
    let request = init;
    for (let hop = 0; hop < 10; hop += 1) {
      const response = await fetch(url, {
        ...request,
        redirect: 'manual',
        headers: { ...request.headers, accept: 'text/html', cookie: this.#header(url) },
      });
      this.#remember(response);
      const location = response.headers.get('location');
      if (location === null) return { response, url, html: await response.text() };
      await response.arrayBuffer();
      url = new URL(location, url);
      if (url.href.startsWith(stopAt)) return { response, url, html: '' };
      request = {};
    }
    throw new Error('Too many redirects');
  }

  /** Sends the page's form whose action ends in `name`, with its hidden fields and what was typed. */
  submit(page: { url: URL; html: string }, name: string, stopAt: string, typed: Record<string, string> = {}) {
    const form = [...page.html.matchAll(/<form method="post" action="([^"]+)">(.*?)<\/form>/gs)].find(
      ([, action]) => action?.endsWith(name),
    );
    if (!form) throw new Error(`No form ${name} in ${page.html}`);
    const hidden = [...(form[2] ?? '').matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
    const fields = {
      ...Object.fromEntries(hidden.map(([, field, value]) => [`${field}`, `${value}`])),
      ...typed,
    };
    return this.visit(new URL(`${form[1]}`, page.url).href, stopAt, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });
  }

  get cookieNames(): string[] {
    return [...this.#cookies.keys()];
  }

  #header(url: URL): string {
    return [...this.#cookies]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }

  #remember(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const path = attributes.find((attribute) => attribute.startsWith('path='))?.slice(5) ?? '/';
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, { value, path });
    }
  }
}
