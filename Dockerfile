# Serves the model that is mounted at /model. Asking a model needs no torch, which would be gigabytes.
FROM python:3.11-slim
RUN useradd --create-home coembed
WORKDIR /home/coembed
COPY --chown=coembed pyproject.toml README.md LICENSE ./
COPY --chown=coembed src src
RUN pip install --no-cache-dir numpy scipy scikit-learn pyarrow safetensors typer rich matplotlib joblib threadpoolctl \
        fastapi uvicorn openTSNE \
    && pip install --no-cache-dir --no-deps .
USER coembed
EXPOSE 8642
VOLUME /model
HEALTHCHECK --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8642/live')"]
# COEMBED_TOKEN is the token; without it one is made up and printed
ENTRYPOINT ["coembed", "serve", "/model", "--host", "0.0.0.0", "--access-log", "-"]
