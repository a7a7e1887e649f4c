# The page in a container; docs/web.md, "In a container", says how to build and run it.
FROM python:3.12-slim
WORKDIR /persimchat
COPY . .
RUN pip install --no-cache-dir --constraint requirements.lock ".[web]" && mkdir /data && chmod 777 /data
USER 54321
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8080/api/health')"]
CMD ["persimchat", "serve", "--host", "0.0.0.0"]
